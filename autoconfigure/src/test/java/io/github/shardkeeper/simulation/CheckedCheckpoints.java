package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.shard.ShardId;

/** A checkpoint store whose every accepted commit is checked, at the store itself. */
record CheckedCheckpoints(CheckpointStore store, Checker checker) {

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
						this.checker.begunAnew(shard, ((Commit) arguments[2]).seek());
						check(shard);
					}
					return reply;
				});
	}

	private void check(ShardId shard) {
		CheckpointStore.Checkpoint checkpoint = this.store.read(shard);
		this.checker.committed(shard, SimulatedTopic.number(checkpoint.offset()),
				Long.parseLong(checkpoint.state().getOrDefault("count", "0")),
				Long.parseLong(checkpoint.state().getOrDefault("sum", "0")));
	}

}
