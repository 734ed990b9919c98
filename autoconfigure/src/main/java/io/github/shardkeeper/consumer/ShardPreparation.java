package io.github.shardkeeper.consumer;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardContext;

/**
 * One call of the application's preparation for a shard. It is made once, as soon as a
 * thread is free and nothing else of the instance runs for the shard, unless the shard
 * has come before. Thread-safe.
 */
final class ShardPreparation {

	private static final Logger logger = LoggerFactory.getLogger(ShardPreparation.class);

	private final ShardHandler handler;

	private final ShardContext shard;

	private final HandlerCall call = new HandlerCall();

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	private boolean begun;

	private boolean dropped;

	private volatile boolean stopped;

	private ShardPreparation(ShardHandler handler, ShardContext shard) {
		this.handler = handler;
		this.shard = shard;
	}

	/**
	 * Begins one.
	 * @param othersEnded completes when nothing else of this instance runs for the shard
	 */
	static ShardPreparation begin(ShardHandler handler, ShardContext shard, Executor executor,
			CompletableFuture<Void> othersEnded) {
		ShardPreparation preparation = new ShardPreparation(handler, shard);
		othersEnded.thenRun(() -> {
			try {
				executor.execute(preparation::run);
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				logger.debug("No thread to prepare for {}; it is only a hint", shard.shard(), ex);
				preparation.drop();
			}
		});
		return preparation;
	}

	/**
	 * Not needed any more: one that has not begun never will; one that runs goes on.
	 * Tells whether it has ended.
	 */
	synchronized boolean drop() {
		this.dropped = true;
		if (!this.begun) {
			this.ended.complete(null);
		}
		return this.ended.isDone();
	}

	/** Not wanted any more: one that runs is interrupted. */
	void stop() {
		this.stopped = true;
		drop();
		this.call.interrupt();
	}

	/** What keeps its shard from being started, {@code null} unless it runs. */
	synchronized @Nullable String problem() {
		return (this.begun && !this.ended.isDone())
				? "Waits for @OnShardPreparing %s, which has not returned".formatted(this.handler.preparingNames())
				: null;
	}

	/** Completes when it does not run and never will. */
	CompletableFuture<Void> ended() {
		return this.ended;
	}

	private synchronized boolean begin() {
		this.begun = !this.dropped;
		return this.begun;
	}

	private void run() {
		if (!begin()) {
			return;
		}
		try {
			this.call.run(() -> this.handler.prepare(this.shard));
		}
		catch (Throwable ex) {
			if (this.stopped) {
				logger.debug("@OnShardPreparing was interrupted for {}", this.shard.shard(), ex);
			}
			else {
				logger.warn("@OnShardPreparing failed for {}; the shard starts without it", this.shard.shard(), ex);
			}
		}
		finally {
			this.ended.complete(null);
		}
	}

}
