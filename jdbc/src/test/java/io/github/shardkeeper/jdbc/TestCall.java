package io.github.shardkeeper.jdbc;

import io.github.shardkeeper.checkpoint.CallTransactions.Call;
import io.github.shardkeeper.checkpoint.Commit;

/**
 * A call of a handler with a commit that is known before. Immutable.
 */
record TestCall(Runnable handler, Commit commit) implements Call {

	@Override
	public void run() {
		this.handler.run();
	}

	@Override
	public Runnable savepoint() {
		return () -> {
		};
	}

}
