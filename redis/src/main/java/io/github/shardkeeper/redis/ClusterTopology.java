package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Masters of a Cluster's slots. The client refreshes them only every few seconds and not
 * after every kind of failure, and a group stops meanwhile. Thread-safe.
 */
final class ClusterTopology {

	private static final Logger logger = PrintableLogger.of(ClusterTopology.class);

	/** Pause between refreshes, because each one asks every node. */
	private static final Duration PAUSE = Duration.ofMillis(500);

	/** Enough until all nodes know of a failover. */
	private static final int REFRESHES_AFTER_FAILURE = 10;

	/**
	 * Time after which the next refresh does not wait for this one. A refresh that asks a
	 * node that dies ends by the client's own limits, after a minute or more.
	 */
	private static final Duration MAX_REFRESH_TIME = Duration.ofSeconds(1);

	/** Bound, because each refresh that hangs keeps a connection to every node. */
	private static final int MAX_PENDING_REFRESHES = 4;

	private final RedisClusterClient client;

	private final Executor background;

	/** The last or current refresh; guarded by this, as are all fields below. */
	private CompletableFuture<Void> current = CompletableFuture.completedFuture(null);

	private CompletableFuture<Void> pause = this.current;

	private int refreshesLeft;

	private int pendingRefreshes;

	ClusterTopology(RedisClusterClient client, Executor background) {
		this.client = client;
		this.background = background;
	}

	boolean belongsTo(RedisClusterClient other) {
		return this.client == other;
	}

	/**
	 * Refreshes repeatedly for some seconds: a failover takes time, and a command that is
	 * sent to a dead node meanwhile stays there until its caller gives up.
	 */
	synchronized void refresh() {
		this.refreshesLeft = REFRESHES_AFTER_FAILURE;
		refreshNext();
	}

	synchronized void stop() {
		this.refreshesLeft = 0;
	}

	private synchronized CompletableFuture<Void> refreshOnce() {
		this.refreshesLeft = Math.max(this.refreshesLeft, 1);
		refreshNext();
		return this.current;
	}

	private synchronized void refreshNext() {
		if (this.refreshesLeft == 0 || this.pendingRefreshes == MAX_PENDING_REFRESHES || !this.pause.isDone()) {
			return;
		}
		this.refreshesLeft--;
		this.current = askNodes();
		this.pendingRefreshes++;
		this.current.whenComplete((done, failure) -> refreshed(failure));
		// Ends on the timer's own thread: a failure to create one would go unnoticed.
		this.pause = this.current.copy()
			.completeOnTimeout(null, MAX_REFRESH_TIME.toMillis(), TimeUnit.MILLISECONDS)
			.handle((done, failure) -> done)
			.thenRunAsync(() -> {
			}, CompletableFuture.delayedExecutor(PAUSE.toMillis(), TimeUnit.MILLISECONDS, Runnable::run));
		this.pause.thenRunAsync(this::refreshNext, this.background);
	}

	private CompletableFuture<Void> askNodes() {
		try {
			return this.client.refreshPartitionsAsync().toCompletableFuture();
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			// The client is being stopped, or there is no thread for it.
			return CompletableFuture.failedFuture(ex);
		}
	}

	private synchronized void refreshed(@Nullable Throwable failure) {
		this.pendingRefreshes--;
		if (failure != null) {
			logger.debug("Cannot read the masters of the Cluster's slots", failure);
		}
	}

	/**
	 * Refreshes, and returns the id of the node that serves a key's slot. If the refresh
	 * takes too long, returns the node that was known before.
	 */
	String findMaster(String key, Duration longestRefresh) {
		try {
			refreshOnce().get(longestRefresh.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			// The node that was known before is used.
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisException("interrupted while searching the master of " + key, ex);
		}
		String master = knownMaster(key);
		if (master == null) {
			throw new RedisException("no master is known for the slot of " + key);
		}
		return master;
	}

	@Nullable String knownMaster(String key) {
		RedisClusterNode master = this.client.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		return (master != null) ? master.getNodeId() : null;
	}

}
