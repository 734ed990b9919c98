package io.github.shardkeeper.output;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * What waits in the outboxes of the shards of a topic that this instance owns: records
 * that are committed, or about to be, and are not in their targets yet. Thread-safe.
 */
public final class OutboxUsage {

	private final Set<Share> shares = ConcurrentHashMap.newKeySet();

	/** Returns the number of records. */
	public long records() {
		return this.shares.stream().mapToLong((share) -> share.waiting().records()).sum();
	}

	/** Returns how much of its limits the fullest outbox uses: from 1 on it is full. */
	public double used() {
		return this.shares.stream().mapToDouble(Share::used).max().orElse(0);
	}

	Share join(OutputSettings limits) {
		Share share = new Share(limits);
		this.shares.add(share);
		return share;
	}

	void leave(Share share) {
		this.shares.remove(share);
	}

	/**
	 * What waits in one outbox. Immutable.
	 *
	 * @param records the number of records
	 * @param bytes their approximate size
	 * @param since the time since which the first record for a target has been the first,
	 * of all targets the earliest; {@code null} if none is to be forwarded
	 */
	public record Waiting(long records, long bytes, @Nullable MonotonicTime since) {

		static final Waiting NOTHING = new Waiting(0, 0, null);

	}

	/** What waits in one outbox. Written by the shard's worker. */
	static final class Share {

		private final OutputSettings limits;

		/** {@code null} until the shard has sent something. */
		private volatile @Nullable Waiting known;

		Share(OutputSettings limits) {
			this.limits = limits;
		}

		void set(Waiting current) {
			this.known = current;
		}

		@Nullable Waiting known() {
			return this.known;
		}

		private Waiting waiting() {
			return Objects.requireNonNullElse(this.known, Waiting.NOTHING);
		}

		private double used() {
			Waiting current = waiting();
			return Math.max((double) current.records / this.limits.maxRecords(),
					(double) current.bytes / this.limits.maxBytes());
		}

	}

}
