package io.github.shardkeeper.worker.commit;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.StateView;
import io.github.shardkeeper.output.OutboxBuffer;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/** How a call commits what it does. Confined to the thread of the call. */
public interface CallCommit {

	/** With the shard's next commit, once the worker has processed its result. */
	CallCommit LATER = new CallCommit() {

		@Override
		public Code around(Code code) {
			return code;
		}

		@Override
		public List<NewRecord> uncommitted(OutboxBuffer output) {
			return output.records();
		}

	};

	/** Returns the code of the call with what belongs to its commit. */
	Code around(Code code);

	/** Returns what a call that has returned has sent and not committed. */
	List<NewRecord> uncommitted(OutboxBuffer output);

	/** Code of a call. */
	@FunctionalInterface
	interface Code {

		void run(@Nullable StateView view) throws Throwable;

	}

}
