package io.github.shardkeeper.checkpoint;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.StoreUnavailableException;

/** Waits for replies of a store. */
@Internal
public final class Replies {

	private Replies() {
	}

	/**
	 * {@return the reply to a pending request to a store}
	 * @throws StoreUnavailableException when there is none, or the thread is interrupted;
	 * any other exception is the one with which the store failed
	 */
	public static <T> T await(CompletableFuture<T> reply) {
		try {
			return reply.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException("The store has failed: " + ex.getCause(), ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new StoreUnavailableException("Interrupted while waiting for the store's reply", ex);
		}
	}

}
