package io.github.shardkeeper.benchmarks.state;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Rounds;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * A shard with many entries in its state beside one with a single entry: the time to
 * acquire them, with their state and without, to read an entry, and the cost of a commit
 * of one change.
 */
public final class StateBenchmark implements Benchmark {

	private static final int ACQUISITIONS = 9;

	private static final int ENTRIES_PER_COMMIT = 1000;

	/** Written as JSON it has 100 bytes. */
	private static final String VALUE = "\"" + "x".repeat(98) + "\"";

	@Override
	public String description() {
		return """
				Acquisitions of shards with a large state, with all of it or to read it on use; reads of
				one entry; and commits of one change.
				--entries=1,100000 (of 100 bytes) --commits=2000 --rounds=3
				The raw figures are left in state.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("entries", "commits", "rounds"));
		List<State> states = options.numbers("entries", List.of(1, 100_000), 1).stream().map(State::new).toList();
		int commits = options.number("commits", 2000, 1);
		int rounds = options.number("rounds", 3, 1);
		try (RawFigures raw = new RawFigures(Path.of("state.csv"))) {
			Machine.print();
			Rounds.run("state of a shard", states, 0, rounds, raw, (state, round) -> measure(state, commits))
				.table()
				.forEach(System.out::println);
		}
	}

	static Map<String, Double> measure(State state, int commits) throws Exception {
		try (EmbeddedRedis server = EmbeddedRedis.start();
				RedisFigures redis = new RedisFigures(server);
				ConfigurableApplicationContext application = Applications.start(server.port(), new Object(),
						Map.of("shardkeeper.group", "states", "shardkeeper.topics.states.shards", 1))) {
			CheckpointStore store = application.getBean(CheckpointStore.class);
			ShardId shard = ShardId.of("states", 0);
			fill(store, shard, state.entries(), VALUE);
			Samples acquisitions = new Samples();
			for (int token = 2; token < 2 + ACQUISITIONS; token++) {
				long begun = System.nanoTime();
				Acquisition reply = store.acquireNow(shard, new Token(token));
				acquisitions.add((System.nanoTime() - begun) / 1e6);
				if (!(reply instanceof Acquisition.Acquired acquired)
						|| acquired.checkpoint().state().size() != state.entries()) {
					throw new IllegalStateException("Not acquired with its state: " + shard);
				}
			}
			Samples withoutState = new Samples();
			CommitBasis basis = acquireWithoutState(store, shard, withoutState);
			Samples reads = new Samples();
			for (int read = 0; read < commits; read++) {
				String key = "entry-" + (read * 7919L % state.entries());
				long begun = System.nanoTime();
				Map<String, String> found = store.ownedEntries(shard, basis, List.of(key));
				reads.add((System.nanoTime() - begun) / 1e6);
				if (found == null || found.size() != 1) {
					throw new IllegalStateException("Not read: " + key);
				}
			}
			Samples latencies = new Samples();
			double bytes = redis.of("stats", "total_net_input_bytes");
			double scriptMicros = redis.of("commandstats", "cmdstat_evalsha:.*usec");
			for (long number = 1; number <= commits; number++) {
				long begun = System.nanoTime();
				commit(store, shard, basis.token().value(), number, Map.of("entry-0", "\"" + number + "\""));
				latencies.add((System.nanoTime() - begun) / 1e6);
			}
			scriptMicros = redis.of("commandstats", "cmdstat_evalsha:.*usec") - scriptMicros;
			Map<String, Double> figures = new LinkedHashMap<>();
			figures.put("acquire, ms (median)", acquisitions.median());
			figures.put("acquire, ms (longest)", acquisitions.highest());
			figures.put("acquire on use, ms (median)", withoutState.median());
			figures.put("acquire on use, ms (longest)", withoutState.highest());
			figures.put("read of an entry, ms (median)", reads.median());
			figures.put("read of an entry, ms (99 %)", reads.quantile(0.99));
			figures.put("commit, ms (median)", latencies.median());
			figures.put("commit, ms (99 %)", latencies.quantile(0.99));
			figures.put("commit, bytes to Redis", (redis.of("stats", "total_net_input_bytes") - bytes) / commits);
			figures.put("commit, us in Redis", scriptMicros / commits);
			return figures;
		}
	}

	private static CommitBasis acquireWithoutState(CheckpointStore store, ShardId shard, Samples durations) {
		CommitBasis basis = null;
		for (int token = 2 + ACQUISITIONS; token < 2 + 2 * ACQUISITIONS; token++) {
			long begun = System.nanoTime();
			Acquisition reply = store.acquireWithoutState(shard, new Token(token)).join();
			durations.add((System.nanoTime() - begun) / 1e6);
			if (!(reply instanceof Acquisition.Acquired acquired)) {
				throw new IllegalStateException("Not acquired: " + shard);
			}
			basis = new CommitBasis(new Token(token), 0, acquired.acquisition());
		}
		return Objects.requireNonNull(basis);
	}

	/** Commits a state with entries {@code entry-0}, {@code entry-1} … of one value. */
	static void fill(CheckpointStore store, ShardId shard, int entries, String value) {
		store.acquireNow(shard, new Token(1));
		long number = 0;
		for (int written = 0; written < entries; written += ENTRIES_PER_COMMIT) {
			Map<String, String> changes = new HashMap<>();
			Stream.iterate(written, (entry) -> entry + 1)
				.limit(Math.min(ENTRIES_PER_COMMIT, entries - written))
				.forEach((entry) -> changes.put("entry-" + entry, value));
			commit(store, shard, 1, ++number, changes);
		}
	}

	private static void commit(CheckpointStore store, ShardId shard, long token, long number,
			Map<String, String> changes) {
		CommitReply reply = store
			.commit(shard, new Token(token),
					Commit.of(new CommitNumber(number, number - 1, 0), new Offset(number + "-0"), changes))
			.join();
		if (reply != CommitReply.COMMITTED) {
			throw new IllegalStateException("Commit " + number + " of " + shard + " is " + reply);
		}
	}

	/**
	 * A state.
	 *
	 * @param entries the number of its entries
	 */
	record State(int entries) implements Contender {

		@Override
		public String text() {
			return "%,d entries of 100 bytes".formatted(this.entries);
		}

	}

}
