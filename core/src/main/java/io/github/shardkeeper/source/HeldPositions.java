package io.github.shardkeeper.source;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Decides which positions a reader writes to a system of its source, such as a consumer
 * group, that others also write to: each instance those of the shards that it holds, at
 * the acquisition, after commits, at the release, and now and then although nothing has
 * changed. Such a system has no fence, so three rules take its place:
 * <ul>
 * <li>A position is written only while its shard is held. What an instance that was
 * frozen has left to write is dropped when it resumes.</li>
 * <li>The first position after an acquisition is written after the delay, the last one
 * before a release within the delay after its commit, or not at all. So the former owner
 * comes first.</li>
 * <li>A request that was on its way while the instance was frozen may arrive later
 * nevertheless. The owner repairs that with the next refresh.</li>
 * </ul>
 * Sends nothing: the caller takes the positions that are {@linkplain #next due}, writes
 * each of them at once, and reports those that were not written as {@link #failed}. Not
 * guaranteed: that another reader of the system sees a position that is newer than the
 * refresh interval. Thread-safe.
 *
 * @param <P> a position as it is written; compared with {@code equals}
 */
@Internal
public final class HeldPositions<P> {

	private final Duration delay;

	private final Duration refresh;

	/** Guarded by this. */
	private final Map<ShardId, Held> shards = new HashMap<>();

	/**
	 * Creates it for a reader without shards.
	 * @param delay the time between an acquisition or a commit and the write of its
	 * position
	 * @param refresh the time after which a position that has not changed is written
	 * again
	 */
	public HeldPositions(Duration delay, Duration refresh) {
		this.delay = Objects.requireNonNull(delay, "delay must not be null");
		this.refresh = Objects.requireNonNull(refresh, "refresh must not be null");
	}

	/**
	 * Notes that the reading of a shard starts.
	 * @param shard the shard
	 * @param position the position after which it is read, {@code null} for none
	 * @param held returns whether the shard is held; does not block
	 * @param now the current time
	 */
	public synchronized void started(ShardId shard, @Nullable P position, BooleanSupplier held, MonotonicTime now) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(now, "now must not be null");
		Held started = new Held(Objects.requireNonNull(held, "held must not be null"));
		started.position = position;
		started.due = (position != null) ? now.plus(this.delay) : null;
		this.shards.put(shard, started);
	}

	/**
	 * Notes a commit that the store has accepted. The last one of a shard comes after its
	 * reading has stopped.
	 * @param shard the shard
	 * @param position the position that was committed
	 * @param now the current time
	 * @return whether it is to be written at once
	 */
	public synchronized boolean committed(ShardId shard, P position, MonotonicTime now) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(now, "now must not be null");
		Held known = this.shards.get(shard);
		if (known == null) {
			return false;
		}
		known.position = position;
		known.confirmedAt = now;
		if (known.isWritten()) {
			return false;
		}
		known.due = MonotonicTime.earliestOf(known.due, (known.held != null) ? now.plus(this.delay) : now);
		return known.held == null;
	}

	/**
	 * Notes that the reading of a shard has stopped. What is left to write is due at
	 * once, unless the shard is lost.
	 * @param shard the shard
	 * @param now the current time
	 * @return whether its position is to be written at once
	 */
	public synchronized boolean stopped(ShardId shard, MonotonicTime now) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(now, "now must not be null");
		Held known = this.shards.get(shard);
		if (known == null || known.held == null) {
			return false;
		}
		if (!known.held.getAsBoolean()) {
			this.shards.remove(shard);
			return false;
		}
		// Its last commit may follow.
		known.held = null;
		known.confirmedAt = now;
		known.due = known.isWritten() ? null : now;
		return known.due != null;
	}

	/**
	 * Notes that the reading of all shards has stopped.
	 * @param now the current time
	 */
	public synchronized void stoppedAll(MonotonicTime now) {
		Objects.requireNonNull(now, "now must not be null");
		Set.copyOf(this.shards.keySet()).forEach((shard) -> stopped(shard, now));
	}

	/**
	 * Takes a position to write now; it counts as written unless it is reported as
	 * {@link #failed}.
	 * @param now the current time
	 * @return the position, {@code null} if none is due
	 */
	public synchronized @Nullable Due<P> next(MonotonicTime now) {
		Objects.requireNonNull(now, "now must not be null");
		for (ShardId shard = dueAt(now); shard != null; shard = dueAt(now)) {
			Held known = Objects.requireNonNull(this.shards.get(shard));
			P position = known.position;
			known.due = (known.held != null) ? now.plus(this.refresh) : null;
			if (position != null && known.mayWrite(now)) {
				known.written = position;
				return new Due<>(shard, position);
			}
		}
		return null;
	}

	private @Nullable ShardId dueAt(MonotonicTime now) {
		ShardId first = null;
		MonotonicTime earliest = null;
		for (Map.Entry<ShardId, Held> entry : this.shards.entrySet()) {
			MonotonicTime due = entry.getValue().due;
			if (due != null && !now.isBefore(due) && (earliest == null || due.isBefore(earliest))) {
				first = entry.getKey();
				earliest = due;
			}
		}
		return first;
	}

	/**
	 * Notes that a position was not written.
	 * @param failed the position
	 * @param retryAt the earliest time of another attempt
	 */
	public synchronized void failed(Due<P> failed, MonotonicTime retryAt) {
		Objects.requireNonNull(failed, "failed must not be null");
		Objects.requireNonNull(retryAt, "retryAt must not be null");
		Held known = this.shards.get(failed.shard());
		if (known != null) {
			known.written = null;
			known.due = MonotonicTime.earliestOf(known.due, retryAt);
		}
	}

	/**
	 * Returns when a position may be due.
	 * @return the time, {@code null} if none will be
	 */
	public synchronized @Nullable MonotonicTime nextDue() {
		MonotonicTime next = null;
		for (Held known : this.shards.values()) {
			next = MonotonicTime.earliestOf(next, known.due);
		}
		return next;
	}

	/**
	 * A position to write. Immutable.
	 *
	 * @param <P> a position as it is written
	 * @param shard the shard
	 * @param position its position
	 */
	public record Due<P>(ShardId shard, P position) {

		public Due {
			Objects.requireNonNull(shard, "shard must not be null");
			Objects.requireNonNull(position, "position must not be null");
		}

	}

	/** A shard that is read, or was read last by this instance. Guarded by the outer. */
	private final class Held {

		/** {@code null} once reading has stopped while it was held. */
		private @Nullable BooleanSupplier held;

		private @Nullable P position;

		private @Nullable P written;

		private @Nullable MonotonicTime due;

		/** Time of the last commit, or of the end of reading. */
		private @Nullable MonotonicTime confirmedAt;

		Held(BooleanSupplier held) {
			this.held = held;
		}

		boolean isWritten() {
			return this.position == null || this.position.equals(this.written);
		}

		boolean mayWrite(MonotonicTime now) {
			return (this.held != null) ? this.held.getAsBoolean()
					: this.confirmedAt != null && this.confirmedAt.until(now).compareTo(HeldPositions.this.delay) <= 0;
		}

	}

}
