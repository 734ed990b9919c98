package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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
	private static final Duration LEAST_PAUSE = Duration.ofMillis(250);

	private final RedisClusterClient client;

	/** The last look, or the one under way; guarded by this, as is the pause after it. */
	private CompletableFuture<Void> look = CompletableFuture.completedFuture(null);

	private CompletableFuture<Void> pause = this.look;

	ClusterTopology(RedisClusterClient client) {
		this.client = client;
	}

	boolean isOf(RedisClusterClient other) {
		return this.client == other;
	}

	/** Begins to look anew, unless that is under way or was done just now. */
	synchronized CompletableFuture<Void> lookAnew() {
		if (this.pause.isDone()) {
			this.look = this.client.refreshPartitionsAsync().toCompletableFuture();
			this.pause = this.look.handle((done, failure) -> {
				if (failure != null) {
					logger.debug("Cannot ask the nodes of the Cluster who serves which slot", failure);
				}
				return done;
			}).thenRunAsync(() -> {
			}, CompletableFuture.delayedExecutor(LEAST_PAUSE.toMillis(), TimeUnit.MILLISECONDS));
		}
		return this.look;
	}

	/**
	 * The id of the node that serves a key's slot, looked for anew. Whatever does not
	 * answer in time is not waited for: then it is what was known before.
	 */
	String findMaster(String key, Duration longestLook) {
		try {
			lookAnew().get(longestLook.toNanos(), TimeUnit.NANOSECONDS);
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
