package io.github.shardkeeper.consumer;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.handler.HandlerCall;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * One call of {@code @OnShardPreparing}. It waits for a thread, and until nothing else of
 * this instance runs for the shard. It is dropped if the shard is assigned first.
 * Thread-safe.
 */
final class ShardPreparation {

	private static final Logger logger = PrintableLogger.of(ShardPreparation.class);

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

	/** Requests the call, for when nothing else of this instance runs for the shard. */
	static ShardPreparation begin(ShardHandler handler, String group, ShardId shard, MemberId member, Executor executor,
			CompletableFuture<Void> othersEnded) {
		ShardPreparation preparation = new ShardPreparation(handler, new UpcomingShard(group, shard, member));
		othersEnded.thenRun(() -> {
			try {
				executor.execute(preparation::run);
			}
			catch (RejectedExecutionException | OutOfMemoryError ex) {
				logger.debug("No thread to prepare {}; the shard starts without it", shard, ex);
				preparation.drop();
			}
		});
		return preparation;
	}

	/** Cancels the call if it has not begun; returns whether it has ended. */
	synchronized boolean drop() {
		this.dropped = true;
		if (!this.begun) {
			this.ended.complete(null);
		}
		return this.ended.isDone();
	}

	void stop() {
		this.stopped = true;
		drop();
		this.call.interrupt();
	}

	/** Returns why the shard cannot start yet, {@code null} unless the call runs. */
	synchronized @Nullable String problem() {
		return (this.begun && !this.ended.isDone())
				? "Waits for @OnShardPreparing %s, which has not returned".formatted(this.handler.preparingNames())
				: null;
	}

	/** Returns a future that completes once the call does not run and never will. */
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

	private record UpcomingShard(String group, ShardId shard, MemberId member) implements ShardContext {

		@Override
		public Token token() {
			return Token.NONE;
		}

		@Override
		public boolean isHeld() {
			return false;
		}

	}

}
