package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Store of the data plane of one group: for each shard a fence, the committed offset, the
 * state entries, the timers, the retry queue and the dead letters. An application may
 * provide its own bean; {@code CheckpointStoreContract} in this project's tests checks
 * the rules.
 * <p>
 * <b>Fencing.</b> The fence of a shard is the highest token under which it was acquired.
 * {@link #acquire} raises it, {@link #commit} and {@link #complete} are refused below it.
 * Each method makes one atomic step per shard: <pre>
 * acquire(shard, 7)  Acquired, fence 7
 * acquire(shard, 8)  Acquired, fence 8; sees all that was committed under 7
 * commit(shard, 7)   STALE, nothing is written
 * </pre>
 * <p>
 * <b>Not guaranteed.</b> The store may lose writes that it has answered, for example in a
 * failover. It must then reply {@code GONE} to a commit that rests on them, never write
 * it. Steps on different shards are not atomic together. {@link #read}, {@link #offsets}
 * and {@link #seeks} may be outdated when they return.
 * <p>
 * <b>Errors.</b> Every method may throw {@link StoreUnavailableException}, or complete
 * its future with it. Unless it is a {@linkplain StoreUnavailableException#isRefusal()
 * refusal}, the step may have been made, or may be made later. Retrying with the same
 * arguments is always safe and makes sense. Expected conflicts are results, not
 * exceptions.
 * <p>
 * <b>Threads.</b> Thread-safe. {@link #acquire} and {@link #commit} return before the
 * reply; their futures may complete on any thread, which callers must not block. All
 * other methods block until the reply or the store's time limit.
 */
public interface CheckpointStore extends AutoCloseable {

	/**
	 * Raises the fence to the token and reads the checkpoint: the new owner sees every
	 * write that was accepted from earlier owners, and they can write nothing after it.
	 * Repeating it under the same token changes nothing. May block only to wait for
	 * replicas.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint, or that a newer token exists. Completes with
	 * {@link StoreUnavailableException} when there is no reply in time, or, without
	 * raising the fence, when the store finds that a part of the data is missing: nobody
	 * may consume from the rest
	 */
	CompletableFuture<Acquisition> acquire(ShardId shard, Token token);

	/**
	 * Acquires a shard and waits for the reply.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint, or that a newer token exists
	 */
	default Acquisition acquireNow(ShardId shard, Token token) {
		return Replies.await(acquire(shard, token));
	}

	/**
	 * Does what {@link #acquire} does, for an owner that has all of the data in memory
	 * and writes it back with its next commit, so that no part of it has to be there;
	 * waits for the reply.
	 * @param shard the shard
	 * @param token the owner's token
	 * @return what is left, or that a newer token exists
	 */
	default Acquisition acquireToWriteBack(ShardId shard, Token token) {
		return acquireNow(shard, token);
	}

	/**
	 * Returns whether the store implements {@link #acquireWithoutState},
	 * {@link #ownedEntries}, {@link #ownedKeys} and {@link #expiredKeys}, without which
	 * the state of a topic cannot be read when it is used.
	 * @param topic the topic
	 * @return whether it does
	 */
	default boolean readsStateOnUse(String topic) {
		return false;
	}

	/**
	 * Does what {@link #acquire} does, for an owner that reads entries of the state when
	 * it uses them: the checkpoint has none, and the time that this takes does not depend
	 * on their number. A commit of this owner is {@link CommitReply#STALE} after one
	 * under the same token that it does not know, of a worker before it: it may have read
	 * what that one has changed before, or after. By default all are read.
	 * @param shard the shard
	 * @param token the new owner's token
	 * @return the checkpoint without its state, or that a newer token exists
	 */
	default CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return acquire(shard, token);
	}

	/**
	 * Leaves a shard to another store, because its topic's checkpoints are there from now
	 * on. The one of the two that was consumed last has the checkpoint. If it is this
	 * one, nothing happens: the caller acquires the shard here, writes the
	 * {@linkplain CarriedCheckpoint contents} into the other store, and calls again.
	 * Otherwise this store should remember that: {@link #acquire} and {@link #seek} are
	 * then refused, with what to do, until somebody {@linkplain #acquireToWriteBack
	 * writes the shard back}. By default, which is for stores that topics never come back
	 * to, it is not remembered.
	 * @param shard the shard
	 * @param token the token of its new owner, under which the fence is raised
	 * @param there the token under which the other store has a checkpoint,
	 * {@link Token#NONE} for none; {@code null} if the caller has carried it over since
	 * it has acquired the shard here
	 * @param consumedThere whether the other store has commits under that token since it
	 * was carried over: then it counts, also if this store has lost that it was left
	 * @param sought the number of the last seek that the other store has carried out
	 * @return whether the checkpoint in the other store counts
	 */
	default boolean leave(ShardId shard, Token token, @Nullable Token there, boolean consumedThere, long sought) {
		if (there == null || there.equals(Token.NONE)) {
			return there == null;
		}
		CommitHistory here = commits(shard);
		return here == null || here.last().token().compareTo(there) <= 0;
	}

	/**
	 * Writes all parts of a commit if the fence is still at the token. Neither blocks nor
	 * throws {@link StoreUnavailableException}, so that commits of many shards can be in
	 * flight together. Two commits of one shard may overtake each other; the one that
	 * arrives late is {@link CommitReply#STALE}. A caller therefore sends the next commit
	 * of a shard after the reply to the last.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param commit the changes to write
	 * @return whether the commit was written; repeating a written commit has no effect
	 * and is {@link CommitReply#COMMITTED}. Completes with
	 * {@link StoreUnavailableException} when there is no reply in time
	 */
	CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit);

	/**
	 * Reads the records of a shard's retry queue that are due by the store's clock.
	 * Removes nothing: the commit that settles a record removes it.
	 * @param shard the shard
	 * @param limit maximum number of records, 0 to learn only when the first one is due
	 * @param bytes approximate maximum of their total {@linkplain FailedRecord#size()
	 * size}; the first record may be larger
	 * @param except offsets of records to leave out, because the caller has them
	 * @return the records, and when there are more
	 */
	DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except);

	/**
	 * Returns whether the store implements {@link #waiting}, {@link #retries} and
	 * {@link #changeWaiting}, without which no record can wait for earlier ones of its
	 * key.
	 * @param topic the topic
	 * @return whether it does
	 */
	default boolean listsWaiting(String topic) {
		return false;
	}

	/**
	 * Reads what is in a shard's retry queue, due or not, without payloads. Every record
	 * that is there during the whole call is passed, perhaps more than once; others may
	 * be.
	 * @param shard the shard
	 * @param consumer called with each record, in any order, on the caller's thread
	 * @throws UnsupportedOperationException if the store does not list waiting records
	 */
	default void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		throw unsupported("waiting");
	}

	/**
	 * Reads records of a shard's retry queue, due or not. Removes nothing.
	 * @param shard the shard
	 * @param offsets the offsets of the records
	 * @param bytes approximate maximum of their total {@linkplain FailedRecord#size()
	 * size}; the first record may be larger
	 * @return the first of those that exist, in the order of the offsets
	 * @throws UnsupportedOperationException if the store does not list waiting records
	 */
	default List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		throw unsupported("retries");
	}

	/**
	 * Changes records in a shard's retry queue for people; unknown ones are ignored.
	 * Needs no token: the owner may handle one of them at the same time, and may put it
	 * back as it was. The caller has to notify the owner.
	 * @param shard the shard
	 * @param offsets the offsets of the records, a few hundred at most
	 * @param change the change
	 * @return the number of changed records
	 * @throws UnsupportedOperationException if the store does not list waiting records
	 */
	default int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		throw unsupported("changeWaiting");
	}

	private UnsupportedOperationException unsupported(String method) {
		return new UnsupportedOperationException(
				"%s cannot tell what waits in a retry queue: implement %s(…)".formatted(getClass().getName(), method));
	}

	/**
	 * Closes a shard whose last record was handled, if its retry queue is empty, no
	 * {@linkplain #timers timer} waits and no {@linkplain #seek seek} is pending. A
	 * closed shard has none of them: nobody would carry them out. Call it before the
	 * shard is released as completed. Acquiring the shard under a newer token opens it
	 * again.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param acknowledged the number of the last answered commit under it, 0 for none: if
	 * the store has lost it, the shard is not at its end
	 * @param acquisition the {@link Acquisition.Acquired#acquisition()} of the owner, 0
	 * for none
	 * @return whether the shard is closed
	 */
	CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition);

	/**
	 * Reads a checkpoint. Needs no token.
	 * @param shard the shard
	 * @return the checkpoint as it was committed last; an empty one for an unknown shard
	 */
	Checkpoint read(ShardId shard);

	/**
	 * Reads some entries of a state. Needs no token. By default of the whole checkpoint.
	 * @param shard the shard
	 * @param keys the keys
	 * @return the values as JSON, as they were committed last, by key; without keys that
	 * have no value
	 */
	default Map<String, String> stateEntries(ShardId shard, Collection<String> keys) {
		Map<String, String> entries = new HashMap<>(read(shard).state());
		entries.keySet().retainAll(Set.copyOf(keys));
		return entries;
	}

	/**
	 * Reads some entries of a state for the owner of the shard. In a transaction of a
	 * call it is part of that transaction, and fails as a statement of the call does.
	 * @param shard the shard
	 * @param basis the commits of the owner
	 * @param keys the keys; none to learn only whether the state is there
	 * @return the values as JSON by key, without keys that have no value; {@code null} if
	 * the state is not the one that these commits have made: the shard has a newer owner,
	 * or the store has lost writes
	 * @throws UnsupportedOperationException if the store cannot read single entries
	 */
	default @Nullable Map<String, String> ownedEntries(ShardId shard, CommitBasis basis, Collection<String> keys) {
		throw readsWhole("ownedEntries");
	}

	/**
	 * Reads the keys of a state that begin with a prefix, for the owner of the shard. The
	 * cost grows with the number of all entries, but no step is long. Of entries that
	 * change meanwhile, which the owner knows, it may find any.
	 * @param shard the shard
	 * @param basis the commits of the owner
	 * @param prefix the prefix, empty for all keys
	 * @param nowMillis the time at which values must not have expired, in milliseconds
	 * since 1970
	 * @return the keys that had such a value; {@code null} like {@link #ownedEntries}
	 * @throws UnsupportedOperationException if the store cannot read single entries
	 */
	default @Nullable Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		throw readsWhole("ownedKeys");
	}

	/**
	 * Searches a part of a state for expired values, for the owner of the shard. One that
	 * is there during a whole search, from the first part to the last, is found, unless
	 * the store fails over meanwhile.
	 * @param shard the shard
	 * @param basis the commits of the owner
	 * @param after where the last part has ended, {@code null} to begin
	 * @param nowMillis the time, in milliseconds since 1970
	 * @return the keys of expired values; {@code null} like {@link #ownedEntries}
	 * @throws UnsupportedOperationException if the store cannot read single entries
	 */
	default @Nullable ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, @Nullable String after,
			long nowMillis) {
		throw readsWhole("expiredKeys");
	}

	private UnsupportedOperationException readsWhole(String method) {
		return new UnsupportedOperationException(
				"%s cannot read single entries of a state: implement %s(…)".formatted(getClass().getName(), method));
	}

	/**
	 * Reads the committed offsets of many shards.
	 * @param shards the shards
	 * @return the offsets of those that have one
	 */
	Map<ShardId, Offset> offsets(Collection<ShardId> shards);

	/**
	 * Reads the committed offsets of many shards, and continues if some cannot be read.
	 * @param shards the shards
	 * @param unreadable called with each shard whose offset cannot be read and the reason
	 * @return the offsets of those that have one
	 */
	default Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		return offsets(shards);
	}

	/**
	 * Counts the entries of a shard's committed state, without reading them.
	 * @param shard the shard
	 * @return the number; {@code null} if the store cannot tell without reading them
	 */
	default @Nullable Long countStateEntries(ShardId shard) {
		return null;
	}

	/**
	 * Reads which commits a shard's checkpoint consists of.
	 * @param shard the shard
	 * @return the history; {@code null} if the store keeps none
	 */
	default @Nullable CommitHistory commits(ShardId shard) {
		return null;
	}

	/**
	 * Reads the same of many shards.
	 * @param shards the shards
	 * @return the histories of those that have one
	 */
	default Map<ShardId, CommitHistory> commits(Collection<ShardId> shards) {
		Map<ShardId, CommitHistory> histories = new HashMap<>();
		for (ShardId shard : shards) {
			CommitHistory history = commits(shard);
			if (history != null) {
				histories.put(shard, history);
			}
		}
		return histories;
	}

	/**
	 * Requests that a shard is consumed from another position. Replaces a pending
	 * request. The shard's owner carries it out with a commit; the caller has to notify
	 * it.
	 * @param shard the shard; it need not have an owner
	 * @param after the offset before the first record to consume
	 * @param clearsState whether the shard's state and timers are removed as well, with
	 * the commit that carries out the request: {@link Commit#clearsState()}
	 * @return the request; {@code null} if the shard is completed
	 */
	@Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState);

	/**
	 * Reads the seeks of many shards.
	 * @param shards the shards
	 * @return the seeks for each of the shards
	 */
	Map<ShardId, Seeks> seeks(Collection<ShardId> shards);

	/**
	 * Returns since when the group consumes a topic. The first call records the store's
	 * time; all later calls return it.
	 * @param topic the topic
	 * @return the time, in milliseconds
	 */
	default Instant consumedSince(String topic) {
		return consumedSince(topic, null);
	}

	/**
	 * Returns since when the group consumes a topic, for a caller that has asked before.
	 * If the store has lost its reply, it takes over the caller's; the earlier one
	 * counts.
	 * @param topic the topic
	 * @param known the reply to an earlier call, {@code null} for none
	 * @return the time, in milliseconds
	 */
	Instant consumedSince(String topic, @Nullable Instant known);

	/**
	 * Removes the data of all shards of a topic that nobody consumes any more, one shard
	 * after the other, and since when the topic is consumed. After a failure some may be
	 * left: repeat it. The cost grows with everything that the store keeps.
	 * @param topic the topic
	 * @param newest the newest token under which one of its shards may have been acquired
	 * @return the shards that were removed, and those that were kept
	 * @throws UnsupportedOperationException if the store cannot remove data
	 */
	default Removal remove(String topic, Token newest) {
		throw new UnsupportedOperationException(
				"%s cannot remove the data of '%s': remove it from that store yourself, or implement remove(…)"
					.formatted(getClass().getName(), topic));
	}

	/**
	 * Returns the transactions in which the handlers of a topic are called.
	 * @param topic the topic
	 * @return the transactions; {@code null} if its commits are written apart from what
	 * handlers write
	 */
	default @Nullable CallTransactions transactions(String topic) {
		return null;
	}

	/**
	 * Returns whether the store keeps outboxes for the shards of a topic: what
	 * {@link Commit#outbox()} adds is written with the commit, and every new owner gets
	 * it.
	 * @param topic the topic
	 * @return whether handlers of the topic may send as parts of their calls
	 */
	default boolean keepsOutboxes(String topic) {
		return false;
	}

	/**
	 * Reads records of a shard's outbox, in the order of their places.
	 * @param shard the shard
	 * @param after the place of the last record that was read, {@code null} to begin
	 * @param limit maximum number of records
	 * @param bytes approximate maximum of their total size; the first record may be
	 * larger
	 * @return the records; an empty list after the last one
	 */
	default List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return List.of();
	}

	/**
	 * Counts the records in a shard's outbox, without reading them.
	 * @param shard the shard
	 * @return the number; {@code null} if the shard has never sent anything, or the store
	 * cannot tell without reading them
	 */
	default @Nullable Long countOutbox(ShardId shard) {
		return null;
	}

	/**
	 * Returns whether the store keeps timers for the shards of a topic: what
	 * {@link Commit#timers()} sets is written with the commit, and every new owner finds
	 * it with {@link #timers}. An owner that writes its whole state back gives those
	 * timers that it knows; all others stay as the store has them.
	 * @param topic the topic
	 * @return whether handlers of the topic may set timers
	 */
	default boolean keepsTimers(String topic) {
		return false;
	}

	/**
	 * Reads timers of a shard, due or not, in the order of their times; among equal times
	 * in an order of the store's own. Removes nothing: the commit of the call for a timer
	 * removes it. After a {@linkplain #seek seek} that removes the state, those of before
	 * are there until it is carried out.
	 * @param shard the shard
	 * @param after the last timer that was read, {@code null} to begin; it need not exist
	 * any more
	 * @param limit maximum number of timers; there may be fewer if they are large
	 * @return the timers; an empty list after the last one. Throws a
	 * {@linkplain StoreUnavailableException#isRefusal() refusal} if the store finds that
	 * some are missing
	 */
	default List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return List.of();
	}

	/**
	 * Counts the timers of a shard, without reading them.
	 * @param shard the shard
	 * @return the number; {@code null} if the store keeps none
	 */
	default @Nullable Long countTimers(ShardId shard) {
		return null;
	}

	@Override
	void close();

	/**
	 * The result of removing the data of a topic's shards. Immutable.
	 *
	 * @param removed the shards that had data
	 * @param kept the shards that were acquired under a newer token
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
	 * @param offset the offset up to which all records are handled, {@code null} before
	 * the first
	 * @param ahead the identities of the records above the offset that are done already
	 * @param state the state entries, values as JSON
	 * @param retryDueIn time until the first record of the retry queue is due, zero if it
	 * is; {@code null} if the queue is empty
	 */
	record Checkpoint(@Nullable Offset offset, Set<Offset> ahead, Map<String, String> state,
			@Nullable Duration retryDueIn) {

		/**
		 * Creates a checkpoint with nothing done ahead and nothing to retry.
		 * @param offset the offset up to which all records are handled
		 * @param state the state entries, values as JSON
		 */
		public Checkpoint(@Nullable Offset offset, Map<String, String> state) {
			this(offset, Set.of(), state, null);
		}

	}

	/**
	 * What the state rests on that an owner sees: the acquisition and the commits whose
	 * replies it has. Immutable.
	 *
	 * @param token the token under which the shard was acquired
	 * @param acknowledged the number of the last answered commit under it, 0 for none
	 * @param acquisition the {@link Acquisition.Acquired#acquisition()} of the owner, 0
	 * for none
	 */
	record CommitBasis(Token token, long acknowledged, long acquisition) {

	}

	/**
	 * Keys of expired values in a part of a state. Immutable.
	 *
	 * @param next where the part has ended; {@code null} if it was the last one
	 */
	record ExpiredKeys(List<String> keys, @Nullable String next) {

		public ExpiredKeys {
			keys = List.copyOf(keys);
		}

	}

	/** The reply to an acquisition. */
	sealed interface Acquisition {

		/**
		 * The fence is at the token.
		 *
		 * @param checkpoint the checkpoint to resume from
		 * @param seeks the requests to resume from another position
		 * @param lastCommit the number of the last commit under the token, 0 for none: an
		 * owner that acquires again under the same token continues from it
		 * @param before the last commit before the shard was first acquired under the
		 * token; {@code null} if it is not known
		 * @param acquisition identifies the acquisition: the same number when it is
		 * repeated, another one when the store has lost it meanwhile; 0 if unknown
		 * @param outbox the outbox that earlier owners have left
		 */
		record Acquired(Checkpoint checkpoint, Seeks seeks, long lastCommit, @Nullable LastCommit before,
				long acquisition, Outbox outbox) implements Acquisition {

			/** Creates an acquisition of a shard that never sent anything. */
			public Acquired(Checkpoint checkpoint, Seeks seeks, long lastCommit, @Nullable LastCommit before,
					long acquisition) {
				this(checkpoint, seeks, lastCommit, before, acquisition, Outbox.EMPTY);
			}

			/**
			 * Creates an acquisition under a new token, of a shard without seeks.
			 * @param checkpoint the checkpoint to resume from
			 */
			public Acquired(Checkpoint checkpoint) {
				this(checkpoint, Seeks.NONE, 0, null, 0);
			}

		}

		/**
		 * A newer token exists.
		 *
		 * @param fence the newer token
		 */
		record Refused(Token fence) implements Acquisition {

		}

	}

	/** The reply to a commit. */
	enum CommitReply {

		/** Everything was written. */
		COMMITTED,

		/**
		 * Nothing was written: a newer token or a later commit exists, or, after an
		 * {@linkplain CheckpointStore#acquireWithoutState acquisition without state}, one
		 * that the owner does not know.
		 */
		STALE,

		/**
		 * Nothing was written: the store has lost the checkpoint, the acquisition, or the
		 * last acknowledged commit. An owner that still holds the shard acquires it again
		 * under the same token and writes its whole state.
		 */
		GONE

	}

	/** The reply to a completion. */
	enum CompletionReply {

		/** The shard is closed: its retry queue and its timers are empty and stay so. */
		COMPLETED,

		/** The retry queue has records, timers wait, or a seek is pending. */
		PENDING,

		/** The shard was acquired under a newer token. */
		STALE,

		/** The store has lost the acquisition under the token, or the last commit. */
		GONE

	}

	/**
	 * The records of a retry queue that are due. Immutable.
	 *
	 * @param records the due records, in the order of their due times
	 * @param nextIn time until there are more; zero if more are due than were asked for,
	 * {@code null} if the queue contains nothing else
	 */
	record DueRecords(List<FailedRecord> records, @Nullable Duration nextIn) {

		public DueRecords {
			records = List.copyOf(records);
		}

	}

}
