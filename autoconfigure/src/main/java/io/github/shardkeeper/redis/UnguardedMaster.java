package io.github.shardkeeper.redis;

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Watches over whether the master of now would go on accepting writes when it is cut off
 * from its replicas, and says so once. Nobody waits for it. Thread-safe.
 */
public final class UnguardedMaster {

	private static final Logger logger = LoggerFactory.getLogger(UnguardedMaster.class);

	/** The connection may be one to a master that is gone. */
	private static final int ATTEMPTS = 3;

	private final RedisConnector connector;

	private final RedisLink<String> link;

	private final ReplicaWait wait;

	private boolean unreadable;

	private volatile @Nullable String problem;

	/**
	 * Creates it without having looked.
	 * @param connector knows whether there are Sentinels
	 * @param link where to ask
	 * @param wait says whether there are to be replicas
	 */
	public UnguardedMaster(RedisConnector connector, RedisLink<String> link, ReplicaWait wait) {
		this.connector = connector;
		this.link = link;
		this.wait = wait;
	}

	/**
	 * What is wrong with the settings of the master that was looked at last.
	 * @return what is wrong and what to do; {@code null} for nothing, or if it could not
	 * be read
	 */
	public @Nullable String problem() {
		return this.problem;
	}

	/** Looks in the background: the master may be another one now. */
	public void look() {
		if (!this.connector.isCluster()) {
			this.connector.background().execute(this::lookNow);
		}
	}

	private synchronized void lookNow() {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			try {
				boolean replicated = this.connector.isSentinel() || !this.wait.isNone();
				found(RedisVerification.findUnguardedMaster(this.link, replicated));
				return;
			}
			catch (StoreUnavailableException ex) {
				if (ex.isRefusal()) {
					unreadable(ex);
					return;
				}
				logger.debug("The master's settings could not be read", ex);
			}
		}
	}

	private void found(@Nullable String found) {
		if (found != null && !Objects.equals(found, this.problem)) {
			logger.warn(found);
		}
		else if (found == null && this.problem != null) {
			logger.info("The master asks for replicas now, or has none");
		}
		this.problem = found;
	}

	private void unreadable(StoreUnavailableException refusal) {
		this.problem = null;
		if (!this.unreadable) {
			this.unreadable = true;
			logger.info("Whether the master asks for replicas ('min-replicas-to-write', 'min-replicas-max-lag') cannot "
					+ "be read; see to it that it does. {}", refusal.getMessage());
		}
	}

}
