package io.github.shardkeeper.output;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What waits in the outboxes of the shards of a topic that this instance owns: records
 * that are committed, or about to be, and are not in their targets yet. Thread-safe.
 */
public final class OutboxUsage {

	private final Set<Share> shares = ConcurrentHashMap.newKeySet();

	/** Returns the number of records. */
	public long records() {
		return this.shares.stream().mapToLong((share) -> share.records).sum();
	}

	/** Returns how much of its limits the fullest outbox uses: from 1 on it is full. */
	public double used() {
		return this.shares.stream().mapToDouble(Share::used).max().orElse(0);
	}

	Share join(Outputs limits) {
		Share share = new Share(limits);
		this.shares.add(share);
		return share;
	}

	void leave(Share share) {
		this.shares.remove(share);
	}

	/** What waits in one outbox. Written by the shard's worker. */
	static final class Share {

		private final Outputs limits;

		private volatile long records;

		private volatile long bytes;

		Share(Outputs limits) {
			this.limits = limits;
		}

		void set(long waiting, long waitingBytes) {
			this.records = waiting;
			this.bytes = waitingBytes;
		}

		private double used() {
			return Math.max((double) this.records / this.limits.maxRecords(),
					(double) this.bytes / this.limits.maxBytes());
		}

	}

}
