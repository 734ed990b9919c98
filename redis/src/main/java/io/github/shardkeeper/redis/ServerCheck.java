package io.github.shardkeeper.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Checks what lets no command fail: whether a master may evict keys, and whether this
 * machine's clock agrees with Redis. Reads {@code INFO memory} and {@code TIME} of each
 * master in the background, once when it is started and then every five minutes, because
 * both may change; logs each finding once. Thread-safe.
 */
public final class ServerCheck {

	private static final Logger logger = PrintableLogger.of(ServerCheck.class);

	static final Duration INTERVAL = Duration.ofMinutes(5);

	/** Far more than clocks that are synchronized differ. */
	private static final Duration TOLERANCE = Duration.ofMinutes(2);

	private static final String EVICTION = "check whether Redis may evict keys";

	private static final String CLOCK = "compare this machine's clock with Redis";

	private final RedisConnector connector;

	private final InstantSource clock;

	private final Duration interval;

	/** Identifies the current run of checks; {@code null} if there is none. */
	private volatile @Nullable Object run;

	private volatile @Nullable Eviction eviction;

	private volatile @Nullable String clockProblem;

	/**
	 * Creates a check that is not started.
	 * @param clock the clock of this machine
	 * @param interval the pause between two checks
	 */
	ServerCheck(RedisConnector connector, InstantSource clock, Duration interval) {
		this.connector = connector;
		this.clock = clock;
		this.interval = interval;
	}

	void start() {
		Object begun = new Object();
		this.run = begun;
		this.connector.background().execute(() -> next(begun));
	}

	void stop() {
		this.run = null;
	}

	private void next(Object running) {
		if (this.run != running) {
			return;
		}
		try {
			check();
		}
		finally {
			CompletableFuture
				.delayedExecutor(this.interval.toNanos(), TimeUnit.NANOSECONDS, this.connector.background())
				.execute(() -> next(running));
		}
	}

	/** Checks now, and waits for the replies. */
	void check() {
		RedisLink<byte[]> link = this.connector.dataLink(RedisConnector.DATA_TIMEOUT);
		List<String> memory = read(link, EVICTION, (commands) -> commands.info("memory"));
		if (memory != null) {
			evicting(Eviction.of(memory));
		}
		Instant before = this.clock.instant();
		List<List<byte[]>> times = read(link, CLOCK, RedisClusterAsyncCommands::time);
		if (times != null && !times.isEmpty()) {
			clockIs(before, this.clock.instant(), RedisClock.instant(times.get(0)));
		}
	}

	private static <T> @Nullable List<T> read(RedisLink<byte[]> link, String operation,
			Function<RedisClusterAsyncCommands<String, byte[]>, RedisFuture<T>> command) {
		try {
			List<T> replies = link.callMasters(command);
			link.refusedOperations().succeeded(operation);
			return replies;
		}
		catch (StoreUnavailableException ex) {
			link.refusedOperations().failed(operation, ex);
			logger.debug("Cannot {}", operation, ex);
			return null;
		}
	}

	private void evicting(@Nullable Eviction found) {
		Eviction before = this.eviction;
		this.eviction = found;
		if (found != null && !found.equals(before)) {
			logger.warn(found.problem());
		}
		else if (found == null && before != null) {
			logger.info("Redis no longer evicts Shardkeeper's keys");
		}
	}

	private void clockIs(Instant before, Instant after, Instant atRedis) {
		Duration behind = Duration.between(after, atRedis);
		Duration ahead = Duration.between(atRedis, before);
		boolean isBehind = behind.compareTo(ahead) > 0;
		Duration off = isBehind ? behind : ahead;
		boolean wasOff = this.clockProblem != null;
		if (off.compareTo(TOLERANCE) <= 0) {
			this.clockProblem = null;
			if (wasOff) {
				logger.info("The clock of this machine agrees with that of Redis again");
			}
			return;
		}
		// Without the seconds, so that the text stays the same.
		String problem = ("The clock of this machine is %d minutes %s that of Redis. Ownership does not depend on it, but "
				+ "schedules, delays of retries and times that people see do: synchronize the clocks (NTP)")
			.formatted(off.toMinutes(), isBehind ? "behind" : "ahead of");
		this.clockProblem = problem;
		if (!wasOff) {
			logger.warn(problem);
		}
	}

	/** Returns what Redis may evict, and what to do; {@code null} if that is nothing. */
	public @Nullable Eviction eviction() {
		return this.eviction;
	}

	/**
	 * Returns the problem of this machine's clock; {@code null} for none, or if it is not
	 * known.
	 */
	public @Nullable String clockProblem() {
		return this.clockProblem;
	}

	/**
	 * Eviction that may remove keys of Shardkeeper. Immutable.
	 *
	 * @param data whether it may remove offsets, states, streams and the group; otherwise
	 * only what expires anyway
	 * @param problem the problem and what to do
	 */
	public record Eviction(boolean data, String problem) {

		private static final Pattern LIMIT = Pattern.compile("(?m)^maxmemory:(\\d+)");

		private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:([a-z-]+)");

		/** Returns the worst of all masters; {@code null} if none evicts. */
		static @Nullable Eviction of(List<String> memoryOfMasters) {
			List<String> policies = new ArrayList<>();
			for (String memory : memoryOfMasters) {
				Matcher limit = LIMIT.matcher(memory);
				Matcher policy = POLICY.matcher(memory);
				// Without a limit nothing is evicted.
				if (policy.find() && !policy.group(1).equals("noeviction")
						&& !(limit.find() && limit.group(1).equals("0"))) {
					policies.add(policy.group(1));
				}
			}
			if (policies.isEmpty()) {
				return null;
			}
			String worst = policies.stream()
				.filter((policy) -> !policy.startsWith("volatile-"))
				.findFirst()
				.orElse(policies.get(0));
			return of(worst, policies.size(), memoryOfMasters.size());
		}

		private static Eviction of(String policy, int masters, int all) {
			boolean data = !policy.startsWith("volatile-");
			String lost = data ? "any key of Shardkeeper: an evicted one is a lost offset, state, stream or group"
					: "what expires: with it, a send that is repeated may be appended twice";
			return new Eviction(data,
					"At 'maxmemory' Redis%s evicts %s. Its 'maxmemory-policy' is %s: set it to noeviction, with CONFIG SET and in redis.conf, and keep caches in another Redis"
						.formatted((all == 1) ? "" : " (%d of %d masters)".formatted(masters, all), lost, policy));
		}

	}

}
