package io.github.shardkeeper.worker.commit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.worker.record.CallEffects;

/** How a call commits what it does. Confined to the thread of the call. */
public interface CallCommit {

	/** With the shard's next commit, once the worker has processed its result. */
	CallCommit LATER = new CallCommit() {

		@Override
		public Code around(Code code) {
			return code;
		}

		@Override
		public CallEffects uncommitted(CallWrites writes) {
			return writes.effects();
		}

	};

	/** Returns the code of the call with what belongs to its commit. */
	Code around(Code code);

	/** Returns what a call that has returned has done besides and not committed. */
	CallEffects uncommitted(CallWrites writes);

	/** Code of a call. */
	@FunctionalInterface
	interface Code {

		void run(@Nullable StateView view) throws Throwable;

	}

}
