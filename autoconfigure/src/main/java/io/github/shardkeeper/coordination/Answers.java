package io.github.shardkeeper.coordination;

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
	 * @throws StoreUnavailableException when there is none, or the thread was interrupted
	 */
	public static <T> T await(CompletableFuture<T> answer) {
		try {
			return answer.get();
		}
		catch (ExecutionException ex) {
			Throwable cause = ex.getCause();
			throw (cause instanceof StoreUnavailableException unavailable) ? unavailable
					: new StoreUnavailableException("The store has failed: " + cause, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while waiting for the store's answer", ex);
		}
	}

}
