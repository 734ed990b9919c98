package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.testsupport.TimersInForce;
import io.github.shardkeeper.testsupport.TimesInMicros;

/**
 * Handlers of what depends on the time. Each number sets, replaces or cancels a timer of
 * its key, and some put an entry of the key that expires. The state also has what should
 * be there, in entries that do not expire, and a call that meets anything else notes that
 * there. Half of the instances store these entries in an earlier version. A few calls
 * fail after that. One topic has its state in Redis, the other one, with several keys at
 * the same time, in the database.
 */
final class Reminders {

	/** Topic with its state in Redis. */
	static final String IN_REDIS = "reminders";

	/** Topic with its state in the database, key by key. */
	static final String IN_DATABASE = "reminders-in-database";

	static final List<String> TOPICS = List.of(IN_REDIS, IN_DATABASE);

	static final int SHARDS = 4;

	static final List<String> ARGUMENTS = List.of("--trace.reminders=true",
			"--shardkeeper.topics." + IN_REDIS + ".shards=" + SHARDS,
			"--shardkeeper.topics." + IN_REDIS + ".consumer.retry.max-attempts=50",
			"--shardkeeper.topics." + IN_REDIS + ".consumer.retry.initial-interval=10ms",
			"--shardkeeper.topics." + IN_DATABASE + ".shards=" + SHARDS,
			"--shardkeeper.topics." + IN_DATABASE + ".consumer.retry.max-attempts=50",
			"--shardkeeper.topics." + IN_DATABASE + ".consumer.retry.initial-interval=10ms",
			"--shardkeeper.topics." + IN_DATABASE + ".consumer.transaction=jdbc",
			"--shardkeeper.topics." + IN_DATABASE + ".consumer.ordering=key",
			"--shardkeeper.topics." + IN_DATABASE + ".consumer.concurrency=4");

	/** Entry that counts the numbers. */
	static final String HANDLED = "handled";

	/** Entry that counts what has expired. */
	static final String EXPIRED = "expired";

	/** Prefix of entries that expire. */
	static final String EXPIRING = "expiring ";

	/** Prefix of entries that say which expiring entry a call should not have met. */
	static final String WRONG = "wrong entry: ";

	/** Prefix of entries that say which expiring entry was put last. */
	private static final String PUT = "put ";

	/** Prefix of entries with the time at which a call for a key was made. */
	private static final String CALLED = "called ";

	private static final int CALLS_PER_FAILURE = 20;

	private static final long MICROS_PER_MILLI = 1000;

	private final InstantSource clock;

	private final int callsPerFailure;

	Reminders() {
		this(InstantSource.system(), CALLS_PER_FAILURE);
	}

	/**
	 * Creates handlers.
	 * @param clock that of the process, and so of the owner
	 * @param callsPerFailure number of calls of which one fails
	 */
	Reminders(InstantSource clock, int callsPerFailure) {
		this.clock = clock;
		this.callsPerFailure = callsPerFailure;
	}

	@ShardConsumer(IN_REDIS)
	void handle(ShardRecord<String> record, ShardState state, ShardTimers timers) {
		changeTimerAndEntry(record, state, timers);
	}

	@ShardConsumer(IN_DATABASE)
	void handleInDatabase(ShardRecord<String> record, ShardState state, ShardTimers timers) {
		changeTimerAndEntry(record, state, timers);
	}

	private void changeTimerAndEntry(ShardRecord<String> record, ShardState state, ShardTimers timers) {
		long number = Long.parseLong(record.payload());
		String key = String.valueOf(record.key());
		long now = this.clock.millis();
		long calledBefore = called(key, state, now);
		state.increment(HANDLED, 1);
		if (number % 3 == 0) {
			Duration ttl = Duration.ofMillis(200 + number * 7919 % 2300);
			state.put(EXPIRING + key, number, ttl);
			// Of the time of the call nobody knows more than that it is between these.
			state.put(PUT + key, Put.between(number, calledBefore + ttl.toMillis(), now + ttl.toMillis()));
		}
		TimersInForce.handle(key, number, state, timers, Instant.ofEpochMilli(now));
		mayFail();
	}

	@OnShardTimer
	void due(ShardTimer timer, ShardState state) {
		Instant now = this.clock.instant();
		called(timer.key(), state, now.toEpochMilli());
		TimersInForce.fire(timer, true, state, now);
		mayFail();
	}

	/**
	 * Checks the entry of a key that expires. The time of a call is between that at which
	 * the call before it for the key was made, and now.
	 * @return that of the call before
	 */
	private long called(String key, ShardState state, long now) {
		long before = state.get(CALLED + key, Long.class).orElse(0L);
		Put put = state.get(PUT + key, Put.class).orElse(null);
		Optional<Long> found = state.get(EXPIRING + key, Long.class);
		if (put != null && found.isEmpty()) {
			if (now * MICROS_PER_MILLI < put.earliest) {
				wrong(state, "the entry of %s is missing at %d, and %s was put last", key, now, put);
			}
			state.increment(EXPIRED, 1);
			state.remove(PUT + key);
		}
		else if (found.isPresent()
				&& (put == null || put.number != found.get() || before * MICROS_PER_MILLI >= put.latest)) {
			wrong(state, "the entry of %s is %d after %d, and %s was put last", key, found.get(), before, put);
		}
		state.put(CALLED + key, now);
		return before;
	}

	private static void wrong(ShardState state, String what, Object... arguments) {
		state.put(WRONG + what.formatted(arguments), true);
	}

	/** Half of the instances store an earlier version of what was put. */
	static StateMigration<Put> migration(String instance) {
		return new TimesInMicros<>(Put.class, List.of("earliest", "latest"), instance);
	}

	private void mayFail() {
		if (ThreadLocalRandom.current().nextInt(this.callsPerFailure) == 0) {
			throw new IllegalStateException("caused by the test");
		}
	}

	/**
	 * What was put to expire.
	 *
	 * @param number that has put it
	 * @param earliest when it may expire at the earliest, in microseconds since 1970
	 * @param latest when it has expired at the latest
	 */
	record Put(long number, long earliest, long latest) {

		static Put between(long number, long earliestMillis, long latestMillis) {
			return new Put(number, earliestMillis * MICROS_PER_MILLI, latestMillis * MICROS_PER_MILLI);
		}

	}

}
