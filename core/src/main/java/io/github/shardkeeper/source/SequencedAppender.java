package io.github.shardkeeper.source;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Appends records that their sender has numbered, each once, however often and however
 * late it is sent again. Optional: for sources that keep the number of the last record of
 * each sender beside the shard, written in one step with the record. Thread-safe.
 * <p>
 * <b>Not guaranteed.</b> If the source loses the number, a record that is sent again is
 * appended again.
 */
public interface SequencedAppender {

	/**
	 * Appends those records of a sequence that the shard does not have. Does not block. A
	 * sender sends the next batch for a shard after the reply to the last one.
	 * @param sequence the sequence
	 * @param batch the records
	 * @return the reply. Completes with {@link io.github.shardkeeper.SendFailedException}
	 * if there is no reply in time, or if the source refuses the records; all of them
	 * were appended then, or none
	 */
	CompletableFuture<Reply> append(Sequence sequence, Batch batch);

	/**
	 * Sequence of numbers. Immutable.
	 *
	 * @param sender the sender, one shard of one group
	 * @param era the era of the numbers: they may begin again only in a higher one
	 * @param owner the token of the sender's owner
	 */
	record Sequence(String sender, long era, long owner) {

		public Sequence {
			Objects.requireNonNull(sender, "sender must not be null");
		}

	}

	/**
	 * Records with consecutive numbers. Immutable by convention: payloads are not copied.
	 *
	 * @param to the shard to append to
	 * @param first the number of the first record: all before it are in the shard
	 * @param lastPossible the highest number that the shard may have from other owners
	 * @param committedUnder the token of the owner that has committed all the records, 0
	 * if it is the sequence's: what the shard has from owners before it are others
	 * @param records the records
	 */
	record Batch(ShardId to, long first, long lastPossible, long committedUnder, List<NewRecord> records) {

		public Batch {
			Objects.requireNonNull(to, "to must not be null");
			records = List.copyOf(Objects.requireNonNull(records, "records must not be null"));
		}

		/** Returns the number of the last record. */
		public long last() {
			return this.first + this.records.size() - 1;
		}

	}

	/** The reply to a batch. */
	sealed interface Reply {

		/**
		 * All records are in the shard.
		 *
		 * @param before the number of those that were there before this call
		 */
		record Appended(int before) implements Reply {

		}

		/**
		 * Nothing was appended: the shard has records of a higher era, or another owner
		 * has sent more than is possible. Writes of the sender were lost, or it has
		 * another owner.
		 *
		 * @param era the highest era that the shard has seen
		 * @param owner the token of the owner that has sent the last record of this era
		 */
		record Superseded(long era, long owner) implements Reply {

		}

	}

}
