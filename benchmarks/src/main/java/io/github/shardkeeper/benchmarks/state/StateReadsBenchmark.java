package io.github.shardkeeper.benchmarks.state;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Records per second of one shard whose handler counts each key in its state: with the
 * state in memory, and read on use with a cache that has all keys or a part of them.
 */
public final class StateReadsBenchmark implements Benchmark {

	private static final ShardId SHARD = ShardId.of("states", 0);

	/** About as many entries as the smallest cache takes. */
	private static final int CACHED = 4_000;

	private static final int APPENDED_AT_ONCE = 5_000;

	private static final long SEED = 42;

	@Override
	public String description() {
		return """
				Records per second with the state in memory, and with the state read on use.
				--records=50000 --rounds=3 --warm-up=1
				The raw figures are left in state-reads.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("records", "rounds", "warm-up"));
		int records = options.number("records", 50_000, 1);
		int rounds = options.number("rounds", 3, 1);
		int warmUp = options.number("warm-up", 1);
		List<Keys> contenders = List.of(new Keys("in memory", "on-acquisition", 10 * CACHED),
				new Keys("on use, nearly all hits", "on-use", CACHED / 4),
				new Keys("on use, 90 % hits", "on-use", CACHED * 10 / 9),
				new Keys("on use, 10 % hits", "on-use", 10 * CACHED));
		try (RawFigures raw = new RawFigures(Path.of("state-reads.csv"))) {
			Machine.print();
			Rounds
				.run("%,d records, one shard".formatted(records), contenders, warmUp, rounds, raw,
						(keys, round) -> measure(keys, records))
				.table()
				.forEach(System.out::println);
		}
	}

	static Map<String, Double> measure(Keys keys, int records) throws Exception {
		Counter counter = new Counter(records);
		try (EmbeddedRedis server = EmbeddedRedis.start(); RedisFigures redis = new RedisFigures(server)) {
			try (ConfigurableApplicationContext sender = Applications.start(server.port(), new Object(),
					properties(keys))) {
				StateBenchmark.fill(sender.getBean(CheckpointStore.class), SHARD, keys.count(), "1");
				append(sender, keys, records);
			}
			double commands = redis.of("stats", "total_commands_processed");
			ConfigurableApplicationContext consumer = Applications.start(server.port(), counter, properties(keys));
			try {
				if (!counter.all.await(10, TimeUnit.MINUTES)) {
					throw new IllegalStateException("Not all records were handled");
				}
			}
			finally {
				consumer.close();
			}
			Map<String, Double> figures = new LinkedHashMap<>();
			figures.put("records/s", records / ((counter.ended - counter.begun) / 1e9));
			figures.put("commands per record", (redis.of("stats", "total_commands_processed") - commands) / records);
			return figures;
		}
	}

	private static Map<String, Object> properties(Keys keys) {
		return Map.of("shardkeeper.group", "states", "shardkeeper.topics.states.shards", 1,
				"shardkeeper.consumer.state.read", keys.read(), "shardkeeper.consumer.state.cache-size", "1MB");
	}

	private static void append(ConfigurableApplicationContext sender, Keys keys, int records) {
		Random random = new Random(SEED);
		List<NewRecord> some = new ArrayList<>(APPENDED_AT_ONCE);
		for (int record = 0; record < records; record++) {
			String key = "entry-" + random.nextInt(keys.count());
			some.add(new NewRecord(SHARD, key, new byte[] { '1' }, Map.of()));
			if (some.size() == APPENDED_AT_ONCE || record == records - 1) {
				Applications.append(sender, some);
				some.clear();
			}
		}
	}

	/** Counts the records of each key. */
	static final class Counter {

		private final CountDownLatch all;

		private long begun;

		private volatile long ended;

		Counter(int records) {
			this.all = new CountDownLatch(records);
		}

		@ShardConsumer("states")
		void count(ShardRecord<Integer> record, ShardState state) {
			if (this.begun == 0) {
				this.begun = System.nanoTime();
			}
			state.increment(record.key(), record.payload());
			this.ended = System.nanoTime();
			this.all.countDown();
		}

	}

	/**
	 * Keys of the records.
	 *
	 * @param read when entries of the state are read
	 * @param count the number of different keys
	 */
	record Keys(String text, String read, int count) implements Contender {

	}

}
