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
import org.slf4j.LoggerFactory;

/**
 * Who serves which slot of a Redis Cluster, as its client knows it. The client looks anew
 * by itself, but only every few seconds, and not for every kind of failure; a group would
 * stand still for as long. Thread-safe.
 */
final class ClusterTopology {

	private static final Logger logger = LoggerFactory.getLogger(ClusterTopology.class);

	/** Each look asks every node. */
	private static final Duration PAUSE = Duration.ofMillis(500);

	/** After a failure: for as long as a failover may take to be known everywhere. */
	private static final int LOOKS_AFTER_FAILURE = 10;

	/**
	 * A look that asks a node just when it dies is over only when the client's own limits
	 * end it, after a minute or more. The next one does not wait for that.
	 */
	private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

	/** Each look that hangs keeps a connection to every node. */
	private static final int MOST_LOOKS_UNDER_WAY = 4;

	private final RedisClusterClient client;

	private final Executor background;

	/** The last look, or the one under way; guarded by this, as is all below. */
	private CompletableFuture<Void> look = CompletableFuture.completedFuture(null);

	/** Ends some time after the look. */
	private CompletableFuture<Void> pause = this.look;

	private int refreshesLeft;

	private int refreshesUnderWay;

	ClusterTopology(RedisClusterClient client, Executor background) {
		this.client = client;
		this.background = background;
	}

	boolean belongsTo(RedisClusterClient other) {
		return this.client == other;
	}

	/**
	 * Looks anew, now and again for some seconds: a failover takes its time, and a
	 * command that goes to a dead node meanwhile stays there until its caller gives up.
	 */
	synchronized void refresh() {
		this.refreshesLeft = LOOKS_AFTER_FAILURE;
		refreshNext();
	}

	/** Before the client is shut down: begins no further look. */
	synchronized void stop() {
		this.refreshesLeft = 0;
	}

	private synchronized CompletableFuture<Void> refreshOnce() {
		this.refreshesLeft = Math.max(this.refreshesLeft, 1);
		refreshNext();
		return this.look;
	}

	private synchronized void refreshNext() {
		if (this.refreshesLeft == 0 || this.refreshesUnderWay == MOST_LOOKS_UNDER_WAY || !this.pause.isDone()) {
			return;
		}
		this.refreshesLeft--;
		this.refreshesUnderWay++;
		this.look = askNodes();
		this.look.whenComplete((done, failure) -> refreshed(failure));
		// The pause ends on the thread of the JDK's timer itself: it would never end if
		// one was made for it and the system gave none.
		this.pause = this.look.copy()
			.completeOnTimeout(null, LONGEST_LOOK.toMillis(), TimeUnit.MILLISECONDS)
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
			// What a client says that is being stopped, or that the system gives no more
			// threads.
			return CompletableFuture.failedFuture(ex);
		}
	}

	private synchronized void refreshed(@Nullable Throwable failure) {
		this.refreshesUnderWay--;
		if (failure != null) {
			logger.debug("Cannot ask the nodes of the Cluster who serves which slot", failure);
		}
	}

	/**
	 * The id of the node that serves a key's slot, looked for anew. Whatever does not
	 * answer in time is not waited for: then it is what was known before.
	 */
	String findMaster(String key, Duration longestLook) {
		try {
			refreshOnce().get(longestLook.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			// A node that does not answer holds up a look for longer than we wait.
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisException("interrupted while looking for the master of " + key, ex);
		}
		String master = knownMaster(key);
		if (master == null) {
			throw new RedisException("no master is known for the slot of " + key);
		}
		return master;
	}

	/** The id of the node that serves a key's slot, as far as the client knows. */
	@Nullable String knownMaster(String key) {
		RedisClusterNode master = this.client.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		return (master != null) ? master.getNodeId() : null;
	}

}
