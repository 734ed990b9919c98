package io.github.shardkeeper.redis;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * What a master demands of its replicas before it accepts a write, so that it accepts
 * none any more when another one takes its place. Immutable.
 *
 * @param replicas {@code min-replicas-to-write}: how many it must have heard
 * @param maxLagSeconds {@code min-replicas-max-lag}: within what time
 */
record ReplicaDemand(int replicas, int maxLagSeconds) {

	private static final Logger logger = LoggerFactory.getLogger(ReplicaDemand.class);

	private static final String MIN_REPLICAS = "min-replicas-to-write";

	private static final String MAX_LAG = "min-replicas-max-lag";

	private static final Pattern CONNECTED = Pattern.compile("connected_slaves:(\\d+)");

	/** Replicas report once per second, and Redis counts them once per second. */
	private static final int SECONDS_BEYOND_LAG = 2;

	/**
	 * Reads it. Not for a Redis Cluster, whose masters refuse everything by themselves
	 * once they do not reach most of the others.
	 * @param link where to ask
	 * @param replicated whether there are to be replicas, however many there are now
	 * @return the demand; {@code null} where nothing is to be demanded, for want of
	 * replicas
	 * @throws StoreUnavailableException when it cannot be read
	 */
	static @Nullable ReplicaDemand read(RedisLink<String> link, boolean replicated) {
		if (!replicated && !hasReplicas(link)) {
			return null;
		}
		Map<String, String> settings = link.call((commands) -> commands.configGet("min-replicas-*"));
		try {
			return new ReplicaDemand(Integer.parseInt(settings.getOrDefault(MIN_REPLICAS, "")),
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

	/** Whether a master that reaches no replica goes on accepting writes for good. */
	boolean isNone() {
		return this.replicas == 0 || this.maxLagSeconds == 0;
	}

	/** The shortest {@code down-after-milliseconds} of Sentinels that is long enough. */
	long shortestDownAfterMillis() {
		return 1000L * (this.maxLagSeconds + SECONDS_BEYOND_LAG);
	}

	/** What is wrong where nothing is demanded, and what to do. */
	String absence() {
		return ("Redis is replicated, but '%s' is %d and '%s' is %d: a master that a partition cuts off from them goes on "
				+ "accepting writes after another one was made the master, shards have an owner on either side, and what "
				+ "one side has written is lost. Set '%1$s' to 1 or more, and '%3$s' to a few seconds, on every node")
			.formatted(MIN_REPLICAS, this.replicas, MAX_LAG, this.maxLagSeconds);
	}

	/**
	 * Whether the master stops accepting writes before Sentinels replace it.
	 * @param downAfterMillis Sentinel's {@code down-after-milliseconds}
	 * @return what is wrong and what to do; {@code null} for nothing
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
