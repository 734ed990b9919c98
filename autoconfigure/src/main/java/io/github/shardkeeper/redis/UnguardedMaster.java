package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Watches over whether the master of now would go on accepting writes when it is cut off
 * from its replicas, for good or for longer than Sentinels wait, and says so once. Nobody
 * waits for it. Thread-safe.
 */
public final class UnguardedMaster {

	private static final Logger logger = LoggerFactory.getLogger(UnguardedMaster.class);

	/** The connection may be one to a master that is gone. */
	private static final int ATTEMPTS = 3;

	private static final String DOWN_AFTER = "down-after-milliseconds";

	private final RedisConnector connector;

	private final RedisLink<String> link;

	private final ReplicaWait wait;

	private final Duration timeout;

	private final AtomicInteger looks = new AtomicInteger();

	/** Of the looks; guarded by this. */
	private int shown;

	/** Said once; guarded by this. */
	private boolean unreadable;

	private volatile @Nullable String problem;

	/**
	 * Creates it without having looked.
	 * @param connector knows whether there are Sentinels
	 * @param link where to ask
	 * @param wait says whether there are to be replicas
	 * @param timeout the longest wait for a Sentinel's answer
	 */
	public UnguardedMaster(RedisConnector connector, RedisLink<String> link, ReplicaWait wait, Duration timeout) {
		this.connector = connector;
		this.link = link;
		this.wait = wait;
		this.timeout = timeout;
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
			int look = this.looks.incrementAndGet();
			this.connector.background().execute(() -> look(look));
		}
	}

	private void look(int look) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			try {
				boolean replicated = this.connector.isSentinel() || !this.wait.isNone();
				judge(look, ReplicaDemand.read(this.link, replicated));
				return;
			}
			catch (StoreUnavailableException ex) {
				if (ex.isRefusal()) {
					unreadable(look, "Whether the master asks for replicas ('min-replicas-to-write', "
							+ "'min-replicas-max-lag') cannot be read; see to it that it does. " + ex.getMessage());
					return;
				}
				logger.debug("The master's settings could not be read", ex);
			}
		}
	}

	private void judge(int look, @Nullable ReplicaDemand demand) {
		if (demand == null) {
			found(look, null);
		}
		else if (demand.isNone()) {
			found(look, demand.absence());
		}
		else if (!this.connector.isSentinel()) {
			found(look, null);
		}
		else {
			this.connector.askSentinel(this.timeout)
				.thenApply((master) -> Long.parseLong(master.getOrDefault(DOWN_AFTER, "")))
				.whenComplete((downAfterMillis, failure) -> judge(look, demand, downAfterMillis, failure));
		}
	}

	private void judge(int look, ReplicaDemand demand, @Nullable Long downAfterMillis, @Nullable Throwable failure) {
		if (downAfterMillis != null) {
			found(look, demand.lateness(downAfterMillis));
			return;
		}
		logger.debug("Sentinel's settings could not be read", failure);
		unreadable(look,
				"Whether Sentinel's '%s' is long enough cannot be read; see to it that it is %d or more, which is "
					.formatted(DOWN_AFTER, demand.shortestDownAfterMillis())
						+ "the master's 'min-replicas-max-lag' + 2 s. "
						+ RedisFailure.unavailable("SENTINEL MASTER", Objects.requireNonNull(failure)).getMessage());
	}

	private synchronized void found(int look, @Nullable String found) {
		if (isOvertaken(look)) {
			return;
		}
		if (found != null && !Objects.equals(found, this.problem)) {
			logger.warn(found);
		}
		else if (found == null && this.problem != null) {
			logger.info("A master that is cut off from its replicas stops in time now, or there are none");
		}
		this.problem = found;
	}

	private synchronized void unreadable(int look, String what) {
		if (isOvertaken(look)) {
			return;
		}
		this.problem = null;
		if (!this.unreadable) {
			this.unreadable = true;
			logger.info(what);
		}
	}

	/** What was asked earlier may be answered later, by a Sentinel for example. */
	private boolean isOvertaken(int look) {
		boolean overtaken = look < this.shown;
		this.shown = Math.max(look, this.shown);
		return overtaken;
	}

}
