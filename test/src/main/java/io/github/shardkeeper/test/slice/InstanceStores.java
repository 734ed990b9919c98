package io.github.shardkeeper.test.slice;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.shard.MemberId;

/**
 * The stores as one instance reaches them: its notifications are events of its process,
 * and the next commit may meet a {@link Fault}. Confined to the thread of the test.
 */
final class InstanceStores {

	private final InstanceProcess process;

	private final Faults faults;

	InstanceStores(InstanceProcess process, Faults faults) {
		this.process = process;
		this.faults = faults;
	}

	CoordinationStore reach(CoordinationStore store) {
		return proxy(CoordinationStore.class, store);
	}

	CheckpointStore reach(CheckpointStore store) {
		return proxy(CheckpointStore.class, store);
	}

	private <T> T proxy(Class<T> port, T target) {
		return port.cast(Proxy.newProxyInstance(port.getClassLoader(), new Class<?>[] { port },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "close", "verify" -> null;
					case "subscribe" ->
						subscribe((CoordinationStore) target, (MemberId) arguments[0], (Runnable) arguments[1]);
					case "commit" -> commit(target, method, arguments);
					default -> call(target, method, arguments);
				}));
	}

	private Subscription subscribe(CoordinationStore store, MemberId member, Runnable onEvent) {
		this.process.requireAlive();
		Subscription subscription = store.subscribe(member, () -> this.process.execute(onEvent));
		this.process.connected(subscription::close);
		return subscription;
	}

	private @Nullable Object commit(Object target, Method method, Object[] arguments) throws Throwable {
		@Nullable Fault fault = this.process.isEnded() ? null : this.faults.take();
		if (fault == Fault.CRASH) {
			this.process.end();
		}
		@Nullable Object reply = (fault != Fault.WRITE_LOST) ? call(target, method, arguments) : null;
		return (fault == null || fault == Fault.CRASH) ? reply : CompletableFuture
			.failedFuture(new StoreUnavailableException("The test has lost this commit, or its reply", null));
	}

	/** After a crash in the middle of a task the rest of it reaches nothing. */
	private @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
		if (this.process.isEnded() && method.getReturnType() == CompletableFuture.class) {
			return new CompletableFuture<>();
		}
		this.process.requireAlive();
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/** What happens to a commit. */
	enum Fault {

		CRASH, WRITE_LOST, REPLY_LOST

	}

	/** The fault of the next commit of the group. */
	static final class Faults {

		private @Nullable Fault next;

		void set(@Nullable Fault fault) {
			this.next = fault;
		}

		private @Nullable Fault take() {
			Fault fault = this.next;
			this.next = null;
			return fault;
		}

	}

}
