package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** A checkpoint store whose accepted commits are checked, on the server's side. */
record CheckedCheckpoints(MemoryCheckpointStore store, DeadLetterStore deadLetters, Checker checker) {

	CheckpointStore checked() {
		return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
				new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
					Object reply;
					try {
						reply = method.invoke(this.store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
					if (reply instanceof CompletableFuture<?> commit
							&& commit.join() == CheckpointStore.CommitReply.COMMITTED) {
						ShardId shard = (ShardId) arguments[0];
						this.checker.resets(shard, ((Commit) arguments[2]).seek());
						check(shard, (Token) arguments[1]);
					}
					return reply;
				});
	}

	private void check(ShardId shard, Token token) {
		this.checker.committed(shard, token, this.store.read(shard), MemoryFailover.queued(this.store, shard),
				this.deadLetters.list(shard, null, Integer.MAX_VALUE)
					.stream()
					.map((letter) -> letter.record().offset())
					.toList());
	}

}
