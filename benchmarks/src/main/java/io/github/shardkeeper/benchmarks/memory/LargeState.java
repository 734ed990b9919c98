package io.github.shardkeeper.benchmarks.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A shard with many entries of 100 bytes in its state beside one with a single entry: the
 * time to acquire them, and the cost of a commit of one change.
 *
 * @param redis its Redis
 * @param entries the number of entries
 */
record LargeState(RedisProcess redis, int entries) {

	private static final int ACQUISITIONS = 9;

	private static final int COMMITS = 2000;

	private static final int ENTRIES_PER_COMMIT = 1000;

	/** Written as JSON it has 100 bytes. */
	private static final String VALUE = "\"" + "x".repeat(98) + "\"";

	List<String> measure(Consumer<String> raw) throws Exception {
		return measure(raw, COMMITS);
	}

	List<String> measure(Consumer<String> raw, int commits) throws Exception {
		try (ConfigurableApplicationContext application = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "states", "shardkeeper.topics.states.shards", 2))) {
			CheckpointStore store = application.getBean(CheckpointStore.class);
			Cost small = cost(store, ShardId.of("states", 0), 1, commits);
			Cost large = cost(store, ShardId.of("states", 1), this.entries, commits);
			small.addTo(raw, 1);
			large.addTo(raw, this.entries);
			return List.of("| state of a shard | 1 entry | %,d entries of 100 bytes |".formatted(this.entries),
					"|---|---:|---:|",
					line("acquire, ms (median)", small.acquisitions.median(), large.acquisitions.median()),
					line("acquire, ms (longest)", small.acquisitions.highest(), large.acquisitions.highest()),
					line("commit of one change, ms (median)", small.commits.median(), large.commits.median()),
					line("commit of one change, ms (99 %)", small.commits.quantile(0.99), large.commits.quantile(0.99)),
					line("commit of one change, bytes to Redis", small.bytes, large.bytes),
					line("commit of one change, us in Redis", small.redisMicros, large.redisMicros));
		}
	}

	private static String line(String what, double small, double large) {
		return String.format(Locale.ROOT, "| %s | %,.2f | %,.2f |", what, small, large);
	}

	private Cost cost(CheckpointStore store, ShardId shard, int count, int commits) {
		store.acquireNow(shard, new Token(1));
		long number = 0;
		for (int written = 0; written < count; written += ENTRIES_PER_COMMIT) {
			Map<String, String> changes = new HashMap<>();
			for (int i = written; i < Math.min(count, written + ENTRIES_PER_COMMIT); i++) {
				changes.put("entry-" + i, VALUE);
			}
			commit(store, shard, 1, ++number, changes);
		}
		Samples acquisitions = new Samples();
		for (int token = 2; token < 2 + ACQUISITIONS; token++) {
			long begun = System.nanoTime();
			Acquisition reply = store.acquireNow(shard, new Token(token));
			acquisitions.add((System.nanoTime() - begun) / 1e6);
			if (!(reply instanceof Acquisition.Acquired acquired) || acquired.checkpoint().state().size() != count) {
				throw new IllegalStateException("Not acquired with its state: " + shard);
			}
		}
		Samples latencies = new Samples();
		double bytes = figure("stats", "total_net_input_bytes:(\\d+)");
		double redisMicros = figure("commandstats", "cmdstat_evalsha:.*usec=(\\d+)");
		for (number = 1; number <= commits; number++) {
			long begun = System.nanoTime();
			commit(store, shard, 1 + ACQUISITIONS, number, Map.of("entry-0", "\"" + number + "\""));
			latencies.add((System.nanoTime() - begun) / 1e6);
		}
		return new Cost(acquisitions, latencies, (figure("stats", "total_net_input_bytes:(\\d+)") - bytes) / commits,
				(figure("commandstats", "cmdstat_evalsha:.*usec=(\\d+)") - redisMicros) / commits);
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

	private double figure(String section, String pattern) {
		Matcher figure = Pattern.compile(pattern).matcher(this.redis.info(section));
		if (!figure.find()) {
			throw new IllegalStateException("Redis does not report " + pattern);
		}
		return Double.parseDouble(figure.group(1));
	}

	private record Cost(Samples acquisitions, Samples commits, double bytes, double redisMicros) {

		void addTo(Consumer<String> raw, int entries) {
			RawFigures.add("acquire with " + entries + " entries (ms)", this.acquisitions, raw);
			RawFigures.add("commit with " + entries + " entries (ms)", this.commits, raw);
		}

	}

}
