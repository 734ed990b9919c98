package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cost of the data plane's scripts for a shard with a large state, a long retry queue and
 * many dead letters. The times are what Redis measured for each script, and are printed;
 * limits are generous for slow machines.
 */
@RunAlone
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DataScriptCostTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final int ENTRIES = 100_000;

	/** As many as may wait in a shard by default. */
	private static final int WAITING = 10_000;

	private static final long LIMIT_MICROS = 50_000;

	private static final Duration LONGEST_ACQUISITION = Duration.ofSeconds(5);

	private final EmbeddedRedis redis = EmbeddedRedis.start("--slowlog-log-slower-than", "0", "--slowlog-max-len",
			"10000");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.redis.port()));

	private final RedisCommands<String, String> commands = this.client.connect().sync();

	private final CheckpointStore store = new RedisCheckpointStore(new RedisConnector(this.factory), "test", "large",
			Duration.ofMinutes(1));

	private final DeadLetterStore letters = new RedisDeadLetterStore(new RedisConnector(this.factory), "test", "large",
			Duration.ofMinutes(1));

	private final Map<String, String> micros = new LinkedHashMap<>();

	private long token = 1_767_225_600_123_456L;

	private int commits;

	@BeforeAll
	void commitState() {
		acquire();
		for (int from = 0; from < ENTRIES; from += 1_000) {
			commit(from, from + 1_000, List.of(), List.of());
		}
	}

	@AfterAll
	void stop() {
		System.out.println("Microseconds per script of the data plane, with a state of " + ENTRIES
				+ " entries of 100 bytes: " + this.micros);
		this.store.close();
		this.letters.close();
		this.client.shutdown();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void largeStateIsAcquiredInManyShortSteps() {
		acquire();
		List<Long> pages = measure("acquire, all pages", () -> {
			long begin = System.nanoTime();
			assertThat(acquire()).hasSize(ENTRIES);
			Duration taken = Duration.ofNanos(System.nanoTime() - begin);
			this.micros.put("acquired as the owner sees it, ms", Long.toString(taken.toMillis()));
			assertThat(taken).isLessThan(LONGEST_ACQUISITION);
			return null;
		});
		assertThat(pages).hasSizeBetween(100, 300);
		long median = pages.stream().sorted().toList().get(pages.size() / 2);
		List<Long> whole = compare("for comparison: HGETALL, not in a script",
				() -> this.commands.hgetall("test:{large/orders/1}:state"));
		assertThat(median).isLessThan(whole.get(0) / 10);
	}

	@Test
	void commitCostDependsOnChangesOnly() {
		acquire();
		commit(0, 1, List.of(), List.of());
		List<Long> one = measure("commit: 1 entry", () -> commit(7, 8, List.of(), List.of()));
		measure("commit: 1,000 entries", () -> commit(7, 1_007, List.of(), List.of()));
		assertThat(one.get(0)).isLessThan(5_000);
		Set<Offset> ahead = new LinkedHashSet<>();
		IntStream.range(0, 1_000).forEach((i) -> ahead.add(new Offset("1795234348101-" + i)));
		measure("commit: 1,000 done ahead",
				() -> commit(new Commit(number(), new Offset("1"), ahead, Map.of(), List.of(), Set.of(), List.of())));
	}

	@Test
	void manyRetriesAndLetters() {
		acquire();
		List<FailedRecord> records = IntStream.range(0, 100).mapToObj(DataScriptCostTests::record).toList();
		List<Retry> retries = records.stream().map((record) -> new Retry(record, Duration.ZERO)).toList();
		measure("commit: 100 retries of 1 kB", () -> commit(0, 0, retries, List.of()));
		measure("commit: 100 dead letters of 1 kB", () -> commit(0, 0, List.of(), records));
		measure("due: 10 of 100",
				() -> assertThat(this.store.due(SHARD, 10, 1_000_000, Set.of()).records()).hasSize(10));
		measure("due: none wanted", () -> this.store.due(SHARD, 0, 0, Set.of()));
		List<StoredDeadLetter> found = this.letters.list(SHARD, null, 1_000);
		measure("send-back: 100 letters", () -> assertThat(this.letters.sendBack(SHARD, found)).isEqualTo(100));
		Set<Offset> taken = new LinkedHashSet<>();
		records.forEach((record) -> taken.add(record.offset()));
		measure("commit: 100 taken",
				() -> commit(new Commit(number(), null, Set.of(), Map.of(), List.of(), taken, List.of())));
		assertThat(this.letters.countRetries(List.of(SHARD))).containsValue(0L);
	}

	@Test
	void manyTimersOfOneTime() {
		acquire();
		for (int from = 0; from < ENTRIES; from += 1_000) {
			commit(timers(from, from + 1_000, Instant.EPOCH));
		}
		StoredTimer gone = new StoredTimer(new TimerId("key-5", "gone"), Instant.EPOCH);
		measure("read-timers: 100 of %,d at one time".formatted(ENTRIES),
				() -> assertThat(this.store.timers(SHARD, gone, 100)).hasSize(100));
		measure("read-timers: 1,000 of %,d at one time".formatted(ENTRIES),
				() -> assertThat(this.store.timers(SHARD, gone, 1_000)).hasSize(1_000));
		measure("commit: 1,000 timers moved", () -> commit(timers(0, 1_000, Instant.EPOCH.plusSeconds(1))));
		measure("commit: 1,000 timers removed", () -> commit(timers(0, 1_000, null)));
		assertThat(this.store.countTimers(SHARD)).isEqualTo(ENTRIES - 1_000);
		long seek = this.store.seek(SHARD, new Offset("1"), true).number();
		measure("commit: a seek that clears %,d timers".formatted(ENTRIES - 1_000),
				() -> commit(new Commit.Builder(number(), new Offset("1"), Set.of()).seek(seek).clearState().build()));
		assertThat(this.store.countTimers(SHARD)).isZero();
	}

	private Commit timers(int from, int to, @Nullable Instant due) {
		Map<TimerId, @Nullable Instant> timers = new LinkedHashMap<>();
		IntStream.range(from, to).forEach((i) -> timers.put(new TimerId("key-" + i, "reminder"), due));
		return Commit.of(number(), null, Map.of()).withTimers(timers);
	}

	@Test
	void recordsThatWaitByKey() {
		acquire();
		List<Offset> waiting = new ArrayList<>();
		for (int from = 0; from < WAITING; from += 100) {
			List<Retry> retries = IntStream.range(from, from + 100)
				.mapToObj((i) -> new Retry(record(i), Duration.ofHours(1)))
				.toList();
			retries.forEach((retry) -> waiting.add(retry.record().offset()));
			commit(0, 0, retries, List.of());
		}
		measure("list-waiting: all of %,d".formatted(WAITING), () -> {
			Set<Offset> found = new LinkedHashSet<>();
			this.store.waiting(SHARD, (record) -> found.add(record.offset()));
			assertThat(found).hasSize(WAITING);
			return null;
		});
		measure("read-retries: 50 of %,d".formatted(WAITING),
				() -> assertThat(this.store.retries(SHARD, waiting.subList(0, 50), 1_000_000)).hasSize(50));
		for (WaitingRecord.Change change : WaitingRecord.Change.values()) {
			measure("change-waiting: %s, 1,000 of %,d".formatted(change, WAITING),
					() -> assertThat(this.store.changeWaiting(SHARD, waiting.subList(0, 1_000), change))
						.isEqualTo(1_000));
		}
		this.store.changeWaiting(SHARD, waiting, WaitingRecord.Change.DROP);
		assertThat(this.letters.countRetries(List.of(SHARD))).containsValue(0L);
	}

	/** Returns Redis' own measurements of each script that the operation ran. */
	private List<Long> measure(String what, Supplier<?> operation) {
		List<Long> each = compare(what, operation);
		assertThat(each).as(what).allMatch((cost) -> cost < LIMIT_MICROS);
		return each;
	}

	private List<Long> compare(String what, Supplier<?> operation) {
		this.commands.slowlogReset();
		operation.get();
		List<Long> each = this.commands.slowlogGet(10_000)
			.stream()
			.map((entry) -> (List<?>) entry)
			.filter((entry) -> List.of("EVALSHA", "EVAL", "HGETALL")
				.contains(String.valueOf(((List<?>) entry.get(3)).get(0)).toUpperCase()))
			.map((entry) -> (Long) entry.get(2))
			.toList();
		assertThat(each).as(what).isNotEmpty();
		this.micros.put(what,
				(each.size() == 1) ? each.get(0).toString() : "%d scripts, median %d, longest %d".formatted(each.size(),
						each.stream().sorted().toList().get(each.size() / 2), each.stream().max(Long::compare).get()));
		return each;
	}

	private Map<String, String> acquire() {
		this.commits = 0;
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, new Token(++this.token))).checkpoint().state();
	}

	private CommitReply commit(int from, int to, List<Retry> retries, List<FailedRecord> dead) {
		Map<String, String> changes = new HashMap<>();
		IntStream.range(from, to).forEach((i) -> changes.put("key-" + i, "%0100d".formatted(i + this.commits)));
		return commit(new Commit(number(), null, Set.of(), changes, retries, Set.of(), dead));
	}

	private CommitReply commit(Commit commit) {
		CommitReply reply = this.store.commit(SHARD, new Token(this.token), commit).join();
		assertThat(reply).isEqualTo(CommitReply.COMMITTED);
		return reply;
	}

	private CommitNumber number() {
		return CommitNumber.ofWhole(++this.commits);
	}

	private static FailedRecord record(int number) {
		return new FailedRecord(new Offset("1795234348101-" + number), "key", new byte[700], Map.of("trace", "7f"),
				Instant.EPOCH, 5, 1, "java.io.IOException: no", "s".repeat(100), Instant.EPOCH);
	}

}
