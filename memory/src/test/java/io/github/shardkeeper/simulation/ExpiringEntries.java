package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.testsupport.TimesInMicros;

/**
 * Entries of the state that expire, one for each key of records. Beside each there is one
 * that does not expire, and says what the other one should be. Wall clocks of processes
 * differ, by a limit; and half of the processes store the entries in an earlier version.
 */
final class ExpiringEntries {

	/** Maximum difference of the clocks of two processes. */
	static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofSeconds(2);

	/** Time after which an owner has removed what has expired. */
	private static final Duration MAX_REMOVAL = Duration.ofSeconds(15);

	static final String EXPIRING = "expiring ";

	private static final String TWIN = "twin ";

	private ExpiringEntries() {
	}

	/** Checks the entry of a key as a call sees it, and puts it again or not. */
	static void handle(Checker checker, Checker.Call call, String key, long number, ShardState state, Instant now) {
		// As of one moment, also if they are read on use while others change them.
		state.prefetch(List.of(TWIN + key, EXPIRING + key));
		Value twin = state.get(TWIN + key, Value.class).orElse(null);
		Value found = state.get(EXPIRING + key, Value.class).orElse(null);
		if (found != null) {
			checker.require(found.equals(twin), "%s: the entry of %s is %s, and %s was put last", call, key, found,
					twin);
			checker.require(now.isBefore(found.expires()), "%s: %s is returned at %s", call, found, now);
		}
		else if (twin != null) {
			checker.require(!now.plus(MAX_CLOCK_DIFFERENCE).isBefore(twin.expires()),
					"%s: the entry of %s is missing at %s, and %s was put last", call, key, now, twin);
		}
		if (number % 4 > 0) {
			Duration ttl = Duration.ofMillis(200 + number * 7919 % 5000);
			Value next = new Value(number, now.plus(ttl).toEpochMilli() * 1000);
			state.put(EXPIRING + key, next, ttl);
			state.put(TWIN + key, next);
		}
	}

	/** Returns an entry that an owner should have removed, {@code null} for none. */
	static String overdue(Map<String, String> stored, Instant now) {
		long removed = now.minus(MAX_REMOVAL).minus(MAX_CLOCK_DIFFERENCE).toEpochMilli();
		return stored.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith(EXPIRING))
			.map((entry) -> entry.getKey() + "=" + entry.getValue())
			.filter((entry) -> Long.parseLong(entry.substring(entry.indexOf('@') + 1, entry.indexOf(" {"))) < removed)
			.findFirst()
			.orElse(null);
	}

	/** The versions of values that a process knows and stores. */
	static StateMigration<Value> migration(String process) {
		return new TimesInMicros<>(Value.class, List.of("expiresAt"), process);
	}

	/**
	 * An entry.
	 *
	 * @param expiresAt in microseconds since 1970
	 */
	record Value(long number, long expiresAt) {

		Instant expires() {
			return Instant.ofEpochMilli(this.expiresAt / 1000);
		}

	}

}
