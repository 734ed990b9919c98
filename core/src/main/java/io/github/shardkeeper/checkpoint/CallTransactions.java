package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.Nullable;

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
	 * transaction. Never throws what the call throws.
	 * @param shard the shard
	 * @param token the token under which it was acquired
	 * @param call the call
	 * @return what became of the transaction
	 */
	Result call(ShardId shard, Token token, Call call);

	/** A call of a handler. */
	@FunctionalInterface
	interface Call {

		/**
		 * Calls the handler.
		 * @return the commit to write
		 * @throws Throwable if the transaction is to be rolled back
		 */
		Commit run() throws Throwable;

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
		 * There was no answer to the end of the transaction: everything is stored, or
		 * nothing. {@link CheckpointStore#acquire} under the same token tells, by the
		 * number of the last commit.
		 *
		 * @param failure the failure
		 * @param outage the reason if not the call, but the database has caused it
		 */
		record Unknown(Throwable failure, @Nullable StoreUnavailableException outage) implements Result {

		}

	}

}
