package io.github.shardkeeper.benchmarks.memory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.coordination.CheckpointStore;

/**
 * Measures how long the commits of a store take, from being sent to being answered.
 * Thread-safe.
 */
final class TimedStore {

	private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();

	private volatile boolean counting;

	/** Puts the measurement around a store. */
	CheckpointStore around(CheckpointStore store) {
		return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
				new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
					long begun = System.nanoTime();
					try {
						Object result = method.invoke(store, arguments);
						if (method.getName().equals("commit") && this.counting) {
							((CompletableFuture<?>) result).thenRun(() -> this.nanos.add(System.nanoTime() - begun));
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	void count(boolean on) {
		this.counting = on;
	}

	/** Milliseconds for each commit that was sent while it counted. */
	Samples millis() {
		Samples millis = new Samples();
		this.nanos.forEach((each) -> millis.add(each / 1e6));
		return millis;
	}

}
