package io.github.shardkeeper.testsupport;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * Makes calls on several threads at a time. A parallel stream would not: in a test it has
 * the threads with which JUnit runs classes, and those are busy.
 */
public final class Concurrently {

	private static final int THREADS = 8;

	private Concurrently() {
	}

	/**
	 * Calls a function with each input, and waits for all.
	 * @return the results in the order of the inputs
	 */
	public static <T, R> List<R> map(List<T> inputs, Function<T, R> function) {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			List<CompletableFuture<R>> calls = inputs.stream()
				.map((input) -> CompletableFuture.supplyAsync(() -> function.apply(input), threads))
				.toList();
			return calls.stream().map(CompletableFuture::join).toList();
		}
		finally {
			threads.shutdown();
		}
	}

}
