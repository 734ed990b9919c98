package io.github.shardkeeper.source;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Appender that recognizes what it has appended before, so that batches can be repeated
 * without duplicates. Optional: for sources that can. What is not guaranteed: that it
 * recognizes anything after the system has lost acknowledged writes, or a batch that
 * arrives more than an hour after the producer's last one for the shard. Thread-safe.
 */
public interface IdempotentAppender extends ShardAppender {

	/**
	 * Sends a batch; waits neither for its reply nor for a connection. However often the
	 * same batch arrives, its records are appended once, in their order, as long as the
	 * source remembers the producer: at least for an hour after its last batch for the
	 * shard. A batch with the number of the producer's last one is answered and not
	 * appended again, and one with a lower number is ignored. The caller sends the next
	 * batch of a producer and shard only when it no longer waits for this one.
	 * <p>
	 * A record with an id that the shard has had before, from any producer, is left out;
	 * its offset is that of the earlier one. For how long ids are remembered, and how
	 * many of a shard, is limited.
	 * @param batch the batch
	 * @return the reply, or a {@link io.github.shardkeeper.SendFailedException}.
	 * Completes within the time limit for replies, on a thread that must not be blocked
	 * @throws IllegalArgumentException if a record cannot be stored; none is sent, and a
	 * retry does not help
	 */
	CompletableFuture<Appended> appendOnce(Batch batch);

	/**
	 * Returns whether {@link #append} recognizes ids too, so that a record with an id
	 * needs no batch.
	 * @param shard the shard to append to
	 * @return {@code false} also if that is not known yet
	 */
	default boolean appendRecognizesIds(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return false;
	}

	/**
	 * The reply to a batch. Immutable.
	 *
	 * @param offsets the offsets, in the order of the records
	 * @param before the number of the records that were there before, as far as the
	 * source knows
	 */
	record Appended(List<Offset> offsets, int before) {

		public Appended {
			offsets = List.copyOf(Objects.requireNonNull(offsets, "offsets must not be null"));
		}

	}

	/**
	 * Records of one shard that are appended together. Immutable by convention.
	 *
	 * @param producer the name of the producer: different for each template, also after a
	 * restart
	 * @param number the number of the batch, higher than those of the producer's earlier
	 * batches for the shard; at least 1
	 * @param records the records, at least one, all for the same shard
	 */
	record Batch(String producer, long number, List<NewRecord> records) {

		public Batch {
			Objects.requireNonNull(producer, "producer must not be null");
			Objects.requireNonNull(records, "records must not be null");
			records = List.copyOf(records);
			if (number < 1) {
				throw new IllegalArgumentException("The numbers of batches begin with 1; this is " + number);
			}
			if (records.stream().map(NewRecord::shard).distinct().count() != 1) {
				throw new IllegalArgumentException("A batch has records of one shard");
			}
		}

		/**
		 * Returns the shard of the records.
		 * @return the shard
		 */
		public ShardId shard() {
			return this.records.get(0).shard();
		}

	}

}
