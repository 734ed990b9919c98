package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.awaitility.Awaitility;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Input and results of {@link Reminders}. Confined to one thread.
 */
final class RemindedGroup implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final Map<String, CheckpointStore> stores;

	private final Map<String, Feeder> feeders = new TreeMap<>();

	/**
	 * Begins to feed.
	 * @param inRedis what Redis has of the shards; not closed with this
	 * @param inDatabase what the database has of them
	 */
	RemindedGroup(RedisConnector connector, CheckpointStore inRedis, CheckpointStore inDatabase, Duration interval) {
		this.stores = Map.of(Reminders.IN_REDIS, inRedis, Reminders.IN_DATABASE, inDatabase);
		for (String topic : Reminders.TOPICS) {
			this.feeders.put(topic, new Feeder(connector, topic, Reminders.SHARDS, interval, 1, TIMEOUT));
		}
	}

	void stopFeeding() {
		this.feeders.values().forEach(Feeder::stop);
	}

	/**
	 * Waits until nothing is to fire or to expire any more, and checks that each timer
	 * has ended once, and that no call has met what it should not have.
	 * @return a summary for people
	 */
	String awaitFiredAndCheck() {
		Map<String, Long> counts = new TreeMap<>();
		List<String> wrong = new ArrayList<>();
		this.feeders.forEach((topic, feeder) -> {
			for (int number = 0; number < Reminders.SHARDS; number++) {
				ShardId shard = ShardId.of(topic, number);
				Map<String, String> state = awaitFired(shard, feeder.sent(number));
				wrong.addAll(ReminderOutcomes.check(shard.toString(), feeder.sent(number), state));
				ReminderOutcomes.counts(state).forEach((name, count) -> counts.merge(name, count, Long::sum));
			}
		});
		assertThat(wrong).isEmpty();
		assertThat(counts.values()).as("each has happened: %s", counts).allMatch((count) -> count > 0);
		return "reminders: each timer has ended once, no entry has outlived its time: " + counts;
	}

	/** Returns the state then. */
	private Map<String, String> awaitFired(ShardId shard, long sent) {
		CheckpointStore store = this.stores.get(shard.topic());
		return Awaitility.await(shard + " has nothing that is to fire or to expire")
			.atMost(LONGEST_WAIT)
			.pollInterval(Duration.ofMillis(500))
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.until(() -> store.read(shard).state(),
					(state) -> Long.toString(sent).equals(state.get(Reminders.HANDLED))
							&& state.keySet().stream().noneMatch((key) -> key.startsWith(Reminders.EXPIRING))
							&& store.timers(shard, null, 1).isEmpty());
	}

	@Override
	public void close() {
		this.feeders.values().forEach(Feeder::close);
		this.stores.get(Reminders.IN_DATABASE).close();
	}

}
