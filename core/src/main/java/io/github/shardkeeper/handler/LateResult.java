package io.github.shardkeeper.handler;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * What a method returns whose work goes on after it: a {@link Future}, a
 * {@link CompletionStage}, or a reactive type with at most one value, if Reactor is on
 * the class path. Has no state.
 */
final class LateResult {

	static final String MONO = "reactor.core.publisher.Mono";

	private static final boolean REACTOR = ClassUtils.isPresent(MONO, LateResult.class.getClassLoader());

	private LateResult() {
	}

	static boolean isSupported(Class<?> returned) {
		return Future.class.isAssignableFrom(returned) || CompletionStage.class.isAssignableFrom(returned)
				|| REACTOR && Reactive.isSupported(returned);
	}

	/**
	 * Waits until the work is done.
	 * @throws Throwable what the work has failed with
	 * @throws InterruptedException if the thread was interrupted; the work is cancelled
	 * then, and may go on nevertheless
	 */
	static void await(@Nullable Object result) throws Throwable {
		Future<?> work = work(result);
		try {
			work.get();
		}
		catch (InterruptedException ex) {
			work.cancel(true);
			throw ex;
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

	private static Future<?> work(@Nullable Object result) {
		if (result == null) {
			throw new IllegalStateException("The handler has returned null instead of its result");
		}
		if (result instanceof Future<?> future) {
			return future;
		}
		return (result instanceof CompletionStage<?> stage) ? stage.toCompletableFuture() : Reactive.work(result);
	}

	/** Loaded only where Reactor is. */
	private static final class Reactive {

		static boolean isSupported(Class<?> returned) {
			ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned);
			return adapter != null && !adapter.isMultiValue();
		}

		static Future<?> work(Object result) {
			ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, result);
			if (adapter == null) {
				throw new IllegalStateException("The handler has returned a " + result.getClass().getName());
			}
			return Mono.from(adapter.toPublisher(result)).toFuture();
		}

	}

}
