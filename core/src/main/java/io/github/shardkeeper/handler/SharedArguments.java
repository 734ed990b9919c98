package io.github.shardkeeper.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.checkpoint.CallScoped;

/**
 * Arguments of a call whose work may go on, on other threads, when its method has
 * returned. Each use waits for the end of the one before. When this is closed, none is
 * under way, and none begins: the call may be taken back while a part of its work still
 * runs. Thread-safe.
 */
final class SharedArguments implements AutoCloseable {

	private final Lock lock = new ReentrantLock();

	private final CallArguments arguments;

	/** Guarded by the lock. */
	private boolean closed;

	SharedArguments(CallArguments own) {
		this.arguments = new CallArguments(own.context(), shared(ShardState.class, own.state()), own.acknowledgment(),
				shared(ShardOutput.class, own.output()), shared(ShardTimers.class, own.timers()));
	}

	CallArguments arguments() {
		return this.arguments;
	}

	private <T> @Nullable T shared(Class<T> type, @Nullable T own) {
		if (own == null) {
			return null;
		}
		if (own instanceof CallScoped scoped) {
			scoped.permitOtherThreads();
		}
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, values) -> use(type, proxy, own, method, values)));
	}

	private @Nullable Object use(Class<?> type, Object proxy, Object own, Method method,
			@Nullable Object @Nullable [] values) throws Throwable {
		this.lock.lock();
		try {
			if (method.getName().equals("equals") && method.getParameterCount() == 1) {
				return proxy == Objects.requireNonNull(values)[0];
			}
			if (this.closed && method.getDeclaringClass() != Object.class) {
				throw new IllegalStateException(
						"%s may only be used until the result that the handler has returned is complete, or cancelled"
							.formatted(type.getSimpleName()));
			}
			return method.invoke(own, values);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.lock.unlock();
		}
	}

}
