package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.awaitility.Awaitility;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.checkpoint.RedisDeadLetterStore;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Input and results of {@link UnreliableHandlers}. Confined to one thread.
 */
final class UnreliableGroup implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final Map<String, Feeder> feeders = new TreeMap<>();

	private final RedisCheckpointStore checkpoints;

	private final DeadLetterStore letters;

	/** Begins to feed. */
	UnreliableGroup(RedisConnector connector, String group, Duration interval) {
		this.checkpoints = new RedisCheckpointStore(connector, "shardkeeper", group, TIMEOUT);
		this.letters = new RedisDeadLetterStore(connector, "shardkeeper", group, TIMEOUT);
		for (String topic : List.of(UnreliableHandlers.LISTS, UnreliableHandlers.KEYS, UnreliableHandlers.PARKED)) {
			this.feeders.put(topic, new Feeder(connector, topic, UnreliableHandlers.SHARDS, interval, 1, TIMEOUT));
		}
	}

	void stopFeeding() {
		this.feeders.values().forEach(Feeder::stop);
	}

	/**
	 * Waits until every record has an outcome, and checks them.
	 * @return a summary for people
	 */
	String awaitSettledAndCheck() {
		Awaitility.await("all is handled or a dead letter")
			.atMost(LONGEST_WAIT)
			.pollInterval(Duration.ofMillis(500))
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.untilAsserted(() -> assertThat(unsettled()).isZero());
		List<String> wrong = new ArrayList<>();
		Map<String, Long> dead = new TreeMap<>();
		Map<String, Long> fed = new TreeMap<>();
		each((shard, sent) -> {
			List<Long> numbers = deadLetters(shard);
			Map<String, String> state = state(shard);
			wrong.addAll(RecordOutcomes.check(shard.toString(), sent, state, numbers));
			if (state.containsKey(UnreliableHandlers.OVERTAKEN)) {
				wrong.add("%s: %s records were handled after later ones of their keys".formatted(shard,
						state.get(UnreliableHandlers.OVERTAKEN)));
			}
			dead.merge(shard.topic(), (long) numbers.size(), Long::sum);
			fed.merge(shard.topic(), sent, Long::sum);
		});
		assertThat(wrong).isEmpty();
		assertThat(this.letters.countRetries(shards()).values()).as("nothing waits in a retry queue").containsOnly(0L);
		return "records %s, of which dead letters %s; each one or the other, once".formatted(fed, dead);
	}

	private long unsettled() {
		long[] unsettled = new long[1];
		each((shard,
				sent) -> unsettled[0] += Math.max(0, sent - RecordOutcomes.count(state(shard), deadLetters(shard))));
		return unsettled[0] + this.letters.countRetries(shards()).values().stream().mapToLong(Long::longValue).sum();
	}

	private Collection<ShardId> shards() {
		List<ShardId> shards = new ArrayList<>();
		each((shard, sent) -> shards.add(shard));
		return shards;
	}

	private void each(FedShard action) {
		this.feeders.forEach((topic, feeder) -> {
			for (int shard = 0; shard < UnreliableHandlers.SHARDS; shard++) {
				action.accept(ShardId.of(topic, shard), feeder.sent(shard));
			}
		});
	}

	private Map<String, String> state(ShardId shard) {
		return this.checkpoints.read(shard).state();
	}

	private List<Long> deadLetters(ShardId shard) {
		List<Long> numbers = new ArrayList<>();
		List<StoredDeadLetter> page = this.letters.list(shard, null, 500);
		while (!page.isEmpty()) {
			page.forEach((letter) -> numbers.add(Long.parseLong(new String(letter.record().payload()))));
			page = this.letters.list(shard, page.get(page.size() - 1).id(), 500);
		}
		return numbers;
	}

	@Override
	public void close() {
		this.feeders.values().forEach(Feeder::close);
		this.checkpoints.close();
		this.letters.close();
	}

	@FunctionalInterface
	private interface FedShard {

		void accept(ShardId shard, long sent);

	}

}
