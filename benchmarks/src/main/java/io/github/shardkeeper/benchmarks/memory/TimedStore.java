package io.github.shardkeeper.benchmarks.memory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;

/**
 * Measures the commits of a store, from sending to the answer. Thread-safe.
 */
final class TimedStore {

	private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();

	private final AtomicLong failures = new AtomicLong();

	private final AtomicReference<@Nullable Object> firstFailure = new AtomicReference<>();

	private volatile boolean counting;

	/** Puts the measurement around a store. */
	CheckpointStore around(CheckpointStore store) {
		return (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
				new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> {
					long begun = System.nanoTime();
					try {
						Object result = method.invoke(store, arguments);
						if (method.getName().equals("commit") && this.counting) {
							((CompletableFuture<?>) result)
								.whenComplete((reply, failure) -> answered(System.nanoTime() - begun, reply, failure));
						}
						return result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private void answered(long took, @Nullable Object reply, @Nullable Throwable failure) {
		if (reply == CommitReply.COMMITTED) {
			this.nanos.add(took);
		}
		else {
			this.firstFailure.compareAndSet(null, (failure != null) ? failure : reply);
			this.failures.incrementAndGet();
		}
	}

	/** Fails if a commit has: the others' times alone are too good. */
	void verify() {
		if (this.failures.get() > 0) {
			throw new IllegalStateException("%d of %d commits failed, the first with %s".formatted(this.failures.get(),
					this.failures.get() + this.nanos.size(), this.firstFailure.get()));
		}
	}

	void count(boolean on) {
		this.counting = on;
	}

	/** Milliseconds for each commit that was sent while it counted, and was made. */
	Samples millis() {
		Samples millis = new Samples();
		this.nanos.forEach((each) -> millis.add(each / 1e6));
		return millis;
	}

}
