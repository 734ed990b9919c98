package io.github.shardkeeper.loop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * What a store answers to what was sent to it.
 */
public final class Answers {

	private Answers() {
	}

	/**
	 * Waits for an answer.
	 * @param answer the answer, or why there is none
	 * @param <T> its type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none, or the thread was
	 * interrupted; another exception when the store has failed with that
	 */
	public static <T> T await(CompletableFuture<T> answer) {
		try {
			return answer.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException("The store has failed: " + ex.getCause(), ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while waiting for the store's answer", ex);
		}
	}

}
