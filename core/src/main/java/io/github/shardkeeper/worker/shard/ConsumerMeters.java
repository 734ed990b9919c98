package io.github.shardkeeper.worker.shard;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.parking.ParkedKeys;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.worker.record.BufferBudget;

/**
 * Meters of consumption, by topic. Thread-safe.
 */
@FunctionalInterface
public interface ConsumerMeters {

	ConsumerMeters NONE = (topic) -> TopicMeters.NONE;

	/**
	 * Returns the meters of a topic. Called for every consumed topic when consumption
	 * starts, so that the meters exist before the first record.
	 */
	TopicMeters of(String topic);

	/**
	 * Meters of one topic. Methods that are not overridden do nothing. Thread-safe.
	 */
	interface TopicMeters {

		TopicMeters NONE = new TopicMeters() {
		};

		/**
		 * Called when consumption starts.
		 * @param usage what is read ahead, as it changes
		 */
		default void buffering(BufferBudget.Usage usage) {
		}

		/**
		 * Called when consumption starts.
		 * @param totals what waits with {@code on-failure: park-key}, as it changes
		 */
		default void parking(ParkedTotals totals) {
		}

		/**
		 * Called when consumption starts.
		 * @param usage what waits in the outboxes, as it changes
		 */
		default void sending(OutboxUsage usage) {
		}

		/** Called when a handler call has returned; in loop mode it has 0 records. */
		default void handled(int records, Duration duration) {
		}

		/**
		 * Called when a handler call has thrown. Not called if it has ended because the
		 * shard or the lease was lost.
		 */
		default void failed(Duration duration, Throwable failure) {
		}

		/** Called when a payload could not be converted, so that no call was made. */
		default void notConverted() {
		}

		/** Called when filters have skipped records, each time that they do. */
		default void skipped(int records) {
		}

		/** Called when a record becomes a dead letter with the next commit. */
		default void deadLettered() {
		}

		/** Called with the total size of the payloads of handled records. */
		default void handledBytes(long bytes) {
		}

		/** Called when a failed call is to be repeated, at once or later. */
		default void retried() {
		}

		/**
		 * Called when a call is to be repeated because the database has rolled its
		 * transaction back in favor of another one.
		 */
		default void conflicted() {
		}

		/**
		 * Called when dead letters were removed because they were too old or too many.
		 */
		default void deadLettersExpired(int letters) {
		}

		/**
		 * Called when a commit was answered.
		 * @param accepted whether it was accepted; otherwise a newer owner exists
		 */
		default void committed(boolean accepted) {
		}

		/** Called with the time from the sending of a commit to its reply. */
		default void commitAnswered(Duration latency) {
		}

	}

	/**
	 * What waits in the shards of a topic that this instance consumes, as far as their
	 * workers know it. Thread-safe.
	 */
	final class ParkedTotals {

		private final Map<ShardId, Size> shards = new ConcurrentHashMap<>();

		/** Takes over what waits in a shard. */
		public void update(ShardId shard, ParkedKeys parked) {
			if (parked.records() == 0) {
				this.shards.remove(shard);
			}
			else {
				this.shards.put(shard, new Size(parked.keys(), parked.records(), parked.used()));
			}
		}

		/** Removes a shard that is not consumed here any more. */
		public void remove(ShardId shard) {
			this.shards.remove(shard);
		}

		/** Returns the number of keys; each record without a key counts as one. */
		public long keys() {
			return this.shards.values().stream().mapToLong(Size::keys).sum();
		}

		/** Returns the number of records, those that have failed included. */
		public long records() {
			return this.shards.values().stream().mapToLong(Size::records).sum();
		}

		/** Returns how much of its bounds the fullest shard uses: with 1 it halts. */
		public double used() {
			return this.shards.values().stream().mapToDouble(Size::used).max().orElse(0);
		}

		private record Size(int keys, int records, double used) {

		}

	}

}
