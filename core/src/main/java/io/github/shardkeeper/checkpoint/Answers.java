package io.github.shardkeeper.checkpoint;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Waiting for the answer to a request that was sent to a store.
 */
public final class Answers {

	private Answers() {
	}

	/**
	 * Waits for an answer.
	 * @param answer the pending answer
	 * @param <T> its type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none, or the thread is interrupted;
	 * any other exception is the one with which the store failed
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
