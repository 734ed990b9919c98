package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The data plane: per shard of a group a fence, an offset, the state's entries, a retry
 * queue and dead letters.
 * <p>
 * Every method may throw {@link StoreUnavailableException}, or complete with it; each may
 * be repeated as it is. Thread-safe.
 */
public interface CheckpointStore extends AutoCloseable {

	/**
	 * Raises the fence and reads the checkpoint, in one atomic step: the reader sees
	 * every write that was accepted from earlier owners, and they can write nothing after
	 * it. Shards that come together are acquired together: blocks only where replicas
	 * have to be waited for.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint, or that a newer token exists; comes on no particular
	 * thread, which must not be held up. Completes with {@link StoreUnavailableException}
	 * when there is no answer in time; the fence may have been raised, or may be raised
	 * later
	 */
	CompletableFuture<Acquisition> acquire(ShardId shard, Token token);

	/**
	 * The same, and waits for the answer.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint, or that a newer token exists
	 */
	default Acquisition acquireNow(ShardId shard, Token token) {
		return Answers.await(acquire(shard, token));
	}

	/**
	 * Writes all of a commit in one atomic step, if the fence still stands at the token.
	 * Neither blocks nor throws {@link StoreUnavailableException}: commits of many shards
	 * are under way together. Those of one shard may overtake each other, and one that
	 * was overtaken is {@link CommitReply#STALE}, so a worker sends the next one after
	 * the answer to the last.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param commit what to write
	 * @return whether the write was accepted; comes on no particular thread, which must
	 * not be held up. Completes with {@link StoreUnavailableException} when there is no
	 * answer in time; the commit may have been written, or may be written later
	 */
	CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit);

	/**
	 * Reads what is due in a shard's retry queue, by the clock of the store. Takes
	 * nothing out: what is settled leaves the queue with the commit that says so.
	 * @param shard the shard
	 * @param limit the most records to read, 0 to learn only when the first one is due
	 * @param bytes how much they may come to, about; the first one may be larger
	 * @param except offsets of records that are not wanted, because the caller has them
	 * @return the records, and when there is more
	 */
	DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except);

	/**
	 * Closes the retry queue of a shard whose last record was handled, if it is empty and
	 * nobody wants the shard consumed from another position on: neither can be asked for
	 * any more, because nobody would do it. To be called before the shard is released as
	 * completed. Acquiring the shard under a newer token opens it again.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param acknowledged the number of the last commit under it that was answered, 0 for
	 * none: a shard of which that is lost is not at its end
	 * @param acquisition which acquisition the owner rests on, 0 for none
	 * @return whether it is closed
	 */
	CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition);

	/**
	 * Reads a checkpoint without any right to write.
	 * @param shard the shard
	 * @return the checkpoint as committed last
	 */
	Checkpoint read(ShardId shard);

	/**
	 * Reads the committed offsets of many shards.
	 * @param shards the shards
	 * @return the offsets of those that have one
	 */
	Map<ShardId, Offset> offsets(Collection<ShardId> shards);

	/**
	 * Reads the committed offsets of many shards, of which some may be kept in a place
	 * that cannot be read.
	 * @param shards the shards
	 * @param unreadable hears why a shard's offset is not among the result
	 * @return the offsets of those that have one
	 */
	default Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		return offsets(shards);
	}

	/**
	 * Reads whose commits a shard's checkpoint consists of.
	 * @param shard the shard
	 * @return the history; {@code null} where none is kept
	 */
	default @Nullable CommitHistory commits(ShardId shard) {
		return null;
	}

	/**
	 * Leaves a request to consume a shard from another position on, in place of one that
	 * is pending. The shard's owner carries it out with a commit; he has to be told.
	 * @param shard the shard
	 * @param after the offset after which to go on
	 * @param clearsState whether the shard's state is to be removed with it
	 * @return the request; {@code null} when the shard has come to its end
	 */
	@Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState);

	/**
	 * Reads what was requested by {@link #seek} for many shards.
	 * @param shards the shards
	 * @return the requests for each of the shards
	 */
	Map<ShardId, Seeks> seeks(Collection<ShardId> shards);

	/**
	 * Since when the group consumes a topic: the store's time when this is asked for the
	 * first time ever, and the same time ever after, whoever asks.
	 * @param topic the topic
	 * @return the time, to the millisecond
	 */
	default Instant consumedSince(String topic) {
		return consumedSince(topic, null);
	}

	/**
	 * The same, for one who has asked before: a store that has forgotten its answer, or
	 * has given another one since, learns it again. Of several times the earliest counts.
	 * @param topic the topic
	 * @param known what was answered before, {@code null} for nothing
	 * @return the time, to the millisecond
	 */
	Instant consumedSince(String topic, @Nullable Instant known);

	/**
	 * Removes all that is kept of the shards of a topic that nobody consumes any more,
	 * checkpoints, states, retry queues and dead letters, shard by shard; and since when
	 * the topic is consumed. After a failure some may be left: repeat it. Costs as much
	 * as a look at everything that the store keeps.
	 * @param topic the topic
	 * @param newest the newest token under which one of its shards may have been acquired
	 * @return what was removed, and what was not, because it was acquired under a newer
	 * token
	 * @throws UnsupportedOperationException when the store cannot do that
	 */
	default Removal remove(String topic, Token newest) {
		throw new UnsupportedOperationException(
				"%s cannot remove the data of '%s': remove it from that store yourself, or implement remove(…)"
					.formatted(getClass().getName(), topic));
	}

	@Override
	void close();

	/**
	 * What became of the data of a topic's shards. Immutable.
	 *
	 * @param removed the shards of which there was anything, and nothing is left
	 * @param kept those that somebody has acquired under a newer token
	 */
	record Removal(SortedSet<ShardId> removed, SortedSet<ShardId> kept) {

		public Removal {
			removed = Collections.unmodifiableSortedSet(new TreeSet<>(removed));
			kept = Collections.unmodifiableSortedSet(new TreeSet<>(kept));
		}

	}

	/**
	 * The durable part of a shard, without its retry queue and its dead letters.
	 *
	 * @param offset the offset of the last record that counts as handled, {@code null}
	 * before the first
	 * @param ahead the records above the offset that are done already
	 * @param state the state's entries, values as JSON
	 * @param retryDueIn how long until the first record of the retry queue is due, zero
	 * when it is; {@code null} when the queue is empty
	 */
	record Checkpoint(@Nullable Offset offset, Set<Offset> ahead, Map<String, String> state,
			@Nullable Duration retryDueIn) {

		/**
		 * A checkpoint with nothing done ahead and nothing to retry.
		 * @param offset the offset of the last record that counts as handled
		 * @param state the state's entries, values as JSON
		 */
		public Checkpoint(@Nullable Offset offset, Map<String, String> state) {
			this(offset, Set.of(), state, null);
		}

	}

	/** The answer to an acquisition. */
	sealed interface Acquisition {

		/**
		 * The fence stands at the token.
		 *
		 * @param checkpoint where to go on
		 * @param seeks whether that is to be somewhere else
		 * @param lastCommit the number of the last commit under the token, 0 for none:
		 * whoever acquires the shard under a token that was in use goes on from there
		 * @param before the last commit before the shard was acquired under the token for
		 * the first time; {@code null} if that is not known
		 * @param acquisition which acquisition it is: the same when it is repeated,
		 * another one when the store has lost it meanwhile; 0 when that is not known
		 */
		record Acquired(Checkpoint checkpoint, Seeks seeks, long lastCommit, @Nullable LastCommit before,
				long acquisition) implements Acquisition {

			/**
			 * An acquisition, under a new token, of a shard that nobody ever wanted
			 * elsewhere.
			 * @param checkpoint where to go on
			 */
			public Acquired(Checkpoint checkpoint) {
				this(checkpoint, Seeks.NONE, 0, null, 0);
			}

		}

		/**
		 * A newer token exists.
		 *
		 * @param fence that token
		 */
		record Refused(Token fence) implements Acquisition {

		}

	}

	/** The answer to a commit. */
	enum CommitReply {

		/** Everything was written. */
		COMMITTED,

		/**
		 * A newer token has acquired the shard, or a later commit was written; nothing
		 * was written.
		 */
		STALE,

		/**
		 * The store has lost what the commit rests on: the checkpoint, the acquisition
		 * under the token, or the commit that was acknowledged last. Nothing was written.
		 * Who still holds the shard acquires it again under the same token and writes its
		 * whole state.
		 */
		GONE

	}

	/** The answer to a completion. */
	enum CompletionReply {

		/** The retry queue is empty and stays so. */
		COMPLETED,

		/**
		 * There are records in the retry queue, perhaps sent back just now, or the shard
		 * is to be consumed from another position on.
		 */
		PENDING,

		/** A newer token has acquired the shard. */
		STALE,

		/** The store has lost the acquisition under the token, or the last commit. */
		GONE

	}

	/**
	 * What a shard's retry queue has for now. Immutable.
	 *
	 * @param records those that are due, the one that was due first comes first
	 * @param nextIn how long until there is more; zero when more are due than were asked
	 * for, {@code null} when nothing else is in the queue
	 */
	record DueRecords(List<FailedRecord> records, @Nullable Duration nextIn) {

		public DueRecords {
			records = List.copyOf(records);
		}

	}

}
