package io.github.shardkeeper.checkpoint;

import java.time.Duration;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Transactions of the application that also contain the commits of their shards: what a
 * handler writes and the offset of its records are stored together or not at all. Offered
 * by a {@link CheckpointStore} whose data is in the same database. Thread-safe.
 */
public interface CallTransactions {

	/**
	 * Makes a call in a transaction of its own, and writes the commit that it returns
	 * after everything else. The commit is written only if the shard's fence, its
	 * {@linkplain Commit.CommitNumber#acquisition() acquisition} and the number of its
	 * last commit are those that the commit rests on. Blocks until the end of the
	 * transaction. Never throws what the call throws. Several calls of a shard may be
	 * made at the same time; their transactions have to be {@code READ COMMITTED} then,
	 * so that each finds the commits of those that ended while it was open.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param call the call
	 * @return what became of the transaction
	 */
	Result call(ShardId shard, Token token, Call call);

	/**
	 * Returns how long a call waits at most until it may commit, while others of its
	 * shard commit.
	 */
	Duration lockWait();

	/** A call of a handler. */
	interface Call {

		/**
		 * Calls the handler.
		 * @throws Throwable if the transaction is to be rolled back
		 */
		void run() throws Throwable;

		/**
		 * Returns the commit to write. Is called once the database has everything that
		 * the handler has written; waits for other calls of the shard that commit. After
		 * that, the transaction must wait for nothing that those calls may hold.
		 * @throws Throwable if the transaction is to be rolled back
		 */
		Commit commit() throws Throwable;

		/**
		 * Is called when a savepoint of the transaction is made.
		 * @return takes back what the call sends and writes to the state from now on; is
		 * run when the transaction is rolled back to the savepoint, perhaps several times
		 */
		Runnable savepoint();

	}

	/** What became of a transaction. */
	sealed interface Result {

		/** Everything is stored. */
		record Committed() implements Result {

		}

		/**
		 * Nothing is stored, because the call or what it has written failed.
		 *
		 * @param failure the failure
		 */
		record Failed(Throwable failure) implements Result {

		}

		/**
		 * Nothing is stored, because the database has rolled what the call has written
		 * back in favor of another transaction, for example to end a deadlock. Repeating
		 * the call makes sense.
		 *
		 * @param failure the failure
		 */
		record Conflict(Throwable failure) implements Result {

		}

		/**
		 * Nothing is stored, because the call has lost its connection, though the
		 * database works. That happens when something on the way restarts, and repeating
		 * the call makes sense; but the call itself may be the reason.
		 *
		 * @param failure the failure
		 */
		record ConnectionLost(Throwable failure) implements Result {

		}

		/** Nothing is stored: a newer token or another commit exists. */
		record Stale() implements Result {

		}

		/**
		 * Nothing is stored, and not because of the call. It may be repeated.
		 *
		 * @param failure the failure, with what to do
		 */
		record Unavailable(StoreUnavailableException failure) implements Result {

		}

		/**
		 * There was no reply to the end of the transaction: everything is stored, or
		 * nothing. {@link CheckpointStore#acquire} under the same token tells, by the
		 * number of the last commit.
		 *
		 * @param failure the failure
		 * @param connectionLost whether the reply is missing because the connection was
		 * lost, and not because the end was refused
		 */
		record Unknown(Throwable failure, boolean connectionLost) implements Result {

		}

	}

}
