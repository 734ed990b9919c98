package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Checks, in the background, whether a master that is cut off from its replicas stops
 * accepting writes before Sentinels replace it; logs a problem once. Thread-safe.
 */
public final class MinReplicasCheck {

	private static final Logger logger = PrintableLogger.of(MinReplicasCheck.class);

	/** More than one, because the connection may lead to a former master. */
	private static final int ATTEMPTS = 3;

	private static final String DOWN_AFTER = "down-after-milliseconds";

	private final RedisConnector connector;

	private final RedisLink<String> link;

	private final ReplicaWait wait;

	private final Duration timeout;

	private final AtomicInteger checks = new AtomicInteger();

	/** Number of the latest check that has a result; guarded by this. */
	private int shown;

	/** Whether unreadable settings were logged; guarded by this. */
	private boolean unreadable;

	private volatile @Nullable String problem;

	/**
	 * Creates a check that has not run.
	 * @param timeout maximum wait for a Sentinel's reply
	 */
	public MinReplicasCheck(RedisConnector connector, RedisLink<String> link, ReplicaWait wait, Duration timeout) {
		this.connector = connector;
		this.link = link;
		this.wait = wait;
		this.timeout = timeout;
	}

	/**
	 * Returns the problem with the settings of the master that was checked last.
	 * @return the problem and what to do; {@code null} for none, or if the settings could
	 * not be read
	 */
	public @Nullable String problem() {
		return this.problem;
	}

	/** Begins a check in the background. */
	public void check() {
		if (!this.connector.isCluster()) {
			int number = this.checks.incrementAndGet();
			this.connector.background().execute(() -> check(number));
		}
	}

	private void check(int number) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			try {
				boolean replicated = this.connector.isSentinel() || !this.wait.isNone();
				judge(number, Requirement.read(this.link, replicated));
				return;
			}
			catch (StoreUnavailableException ex) {
				if (ex.isRefusal()) {
					unreadable(number, "Whether the master asks for replicas ('min-replicas-to-write', "
							+ "'min-replicas-max-lag') cannot be read; see to it that it does. " + ex.getMessage());
					return;
				}
				logger.debug("The master's settings could not be read", ex);
			}
		}
	}

	private void judge(int number, @Nullable Requirement required) {
		if (required == null) {
			found(number, null);
		}
		else if (required.isNone()) {
			found(number, required.absence());
		}
		else if (!this.connector.isSentinel()) {
			found(number, null);
		}
		else {
			this.connector.askSentinel(this.timeout)
				.thenApply((master) -> Long.parseLong(master.getOrDefault(DOWN_AFTER, "")))
				.whenComplete((downAfterMillis, failure) -> judge(number, required, downAfterMillis, failure));
		}
	}

	private void judge(int number, Requirement required, @Nullable Long downAfterMillis, @Nullable Throwable failure) {
		if (downAfterMillis != null) {
			found(number, required.lateness(downAfterMillis));
			return;
		}
		logger.debug("Sentinel's settings could not be read", failure);
		unreadable(number,
				"Whether Sentinel's '%s' is long enough cannot be read; see to it that it is %d or more, which is "
					.formatted(DOWN_AFTER, required.shortestDownAfterMillis())
						+ "the master's 'min-replicas-max-lag' + 2 s. "
						+ RedisFailure.unavailable("SENTINEL MASTER", Objects.requireNonNull(failure)).getMessage());
	}

	private synchronized void found(int number, @Nullable String found) {
		if (isOvertaken(number)) {
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

	private synchronized void unreadable(int number, String what) {
		if (isOvertaken(number)) {
			return;
		}
		this.problem = null;
		if (!this.unreadable) {
			this.unreadable = true;
			logger.info(what);
		}
	}

	/** Returns whether a later check already has a result. */
	private boolean isOvertaken(int number) {
		boolean overtaken = number < this.shown;
		this.shown = Math.max(number, this.shown);
		return overtaken;
	}

	/**
	 * Replicas that a master requires before it accepts a write. Immutable.
	 *
	 * @param replicas {@code min-replicas-to-write}
	 * @param maxLagSeconds {@code min-replicas-max-lag}, maximum age of their reports
	 */
	private record Requirement(int replicas, int maxLagSeconds) {

		private static final String MIN_REPLICAS = "min-replicas-to-write";

		private static final String MAX_LAG = "min-replicas-max-lag";

		private static final Pattern CONNECTED = Pattern.compile("connected_slaves:(\\d+)");

		/** Replicas report once per second, and Redis counts them once per second. */
		private static final int SECONDS_BEYOND_LAG = 2;

		/**
		 * Returns the requirement, {@code null} without replicas. Not for a Cluster,
		 * whose masters refuse all commands once they do not reach most of the others.
		 * @param replicated whether there should be replicas, also if there are none now
		 */
		static @Nullable Requirement read(RedisLink<String> link, boolean replicated) {
			if (!replicated && !hasReplicas(link)) {
				return null;
			}
			Map<String, String> settings = link.call((commands) -> commands.configGet("min-replicas-*"));
			try {
				return new Requirement(Integer.parseInt(settings.getOrDefault(MIN_REPLICAS, "")),
						Integer.parseInt(settings.getOrDefault(MAX_LAG, "")));
			}
			catch (NumberFormatException ex) {
				throw new StoreUnavailableException("Redis: CONFIG GET does not tell them", ex, true);
			}
		}

		private static boolean hasReplicas(RedisLink<String> link) {
			try {
				Matcher connected = CONNECTED.matcher(link.call((commands) -> commands.info("replication")));
				return connected.find() && !connected.group(1).equals("0");
			}
			catch (StoreUnavailableException ex) {
				if (!ex.isRefusal()) {
					throw ex;
				}
				logger.debug("Whether Redis has replicas cannot be seen: {}", ex.getMessage());
				return false;
			}
		}

		/** Returns whether a master without replicas accepts writes forever. */
		boolean isNone() {
			return this.replicas == 0 || this.maxLagSeconds == 0;
		}

		long shortestDownAfterMillis() {
			return 1000L * (this.maxLagSeconds + SECONDS_BEYOND_LAG);
		}

		String absence() {
			return ("Redis is replicated, but '%s' is %d and '%s' is %d: a master that a partition cuts off from them goes on "
					+ "accepting writes after another one was made the master, shards have an owner on either side, and what "
					+ "one side has written is lost. Set '%1$s' to 1 or more, and '%3$s' to a few seconds, on every node")
				.formatted(MIN_REPLICAS, this.replicas, MAX_LAG, this.maxLagSeconds);
		}

		/**
		 * {@return the problem if Sentinels replace it earlier, or {@code null}}
		 */
		@Nullable String lateness(long downAfterMillis) {
			if (shortestDownAfterMillis() <= downAfterMillis) {
				return null;
			}
			long longestLag = downAfterMillis / 1000 - SECONDS_BEYOND_LAG;
			return ("Redis is replicated, but '%s' is %d (seconds) and Sentinel's 'down-after-milliseconds' is %d: a master "
					+ "that a partition cuts off goes on accepting writes for the lag + 2 s, and Sentinels may have made another "
					+ "one the master before; then shards have an owner on either side, and what one side has written is lost. "
					+ "The lag + 2 s must not exceed 'down-after-milliseconds': set that to %d or more on every Sentinel%s")
				.formatted(MAX_LAG, this.maxLagSeconds, downAfterMillis, shortestDownAfterMillis(),
						(longestLag > 0) ? ", or '%s' to %d on every node".formatted(MAX_LAG, longestLag) : "");
		}

	}

}
