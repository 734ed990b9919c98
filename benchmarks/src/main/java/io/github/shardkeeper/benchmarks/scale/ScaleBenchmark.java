package io.github.shardkeeper.benchmarks.scale;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RawFigures;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.Table;
import io.github.shardkeeper.benchmarks.scale.Change.Kind;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * A group of a thousand members and a hundred thousand shards: it starts, idles, and
 * changes one member at a time. Measures the time of a change until every member has its
 * new assignment, and its cost. The members are in this process; Redis is real, and so
 * are all requests of members.
 */
public final class ScaleBenchmark implements Benchmark {

	private static final long PATIENCE_SECONDS = 300;

	/** Each member that leaves is replaced before the next one leaves. */
	private static final List<Kind> ROUND = List.of(Kind.LEAVE, Kind.JOIN, Kind.CRASH, Kind.JOIN, Kind.LEADER_LEAVES,
			Kind.JOIN, Kind.LEADER_CRASHES, Kind.JOIN, Kind.FREEZE, Kind.JOIN);

	@Override
	public String description() {
		return """
				1,000 members and 100,000 shards on one Redis: joins, leaves, crashes.
				--members=1000 --shards=100000 --rounds=5 --connections=8 --quiet-seconds=10
				The raw figures are left in scale.csv.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("members", "shards", "rounds", "connections", "quiet-seconds"));
		// One that leads, and one that goes.
		int members = options.number("members", 1000, 2);
		int shards = options.number("shards", 100_000, 1);
		int rounds = options.number("rounds", 5, 1);
		int connections = options.number("connections", 8, 1);
		int quiet = options.number("quiet-seconds", 10);
		Machine.print();
		try (RawFigures raw = new RawFigures(Path.of("scale.csv"));
				EmbeddedRedis server = EmbeddedRedis.start();
				RedisFigures redis = new RedisFigures(server)) {
			Costs costs = new Costs(redis);
			try (Group group = new Group(server.port(), connections, shards, members + ROUND.size() * (rounds + 1),
					costs)) {
				double before = redis.of("memory", "used_memory");
				long begun = System.nanoTime();
				for (int i = 0; i < members; i++) {
					group.join();
				}
				double founded = (group.board().awaitEven(shards, PATIENCE_SECONDS) - begun) / 1e6;
				costs.end("start");
				group.verify();
				double bytesPerShard = (redis.of("memory", "used_memory") - before) / shards;
				costs.begin();
				TimeUnit.SECONDS.sleep(quiet);
				costs.end("idle");
				Map<Kind, Change> changes = change(group, redis, rounds, raw);
				costs.end("changes");
				table(members, shards, changes).lines().forEach(System.out::println);
				costs.table().lines().forEach(System.out::println);
				new Table("the group", "").row("start: until every shard is taken, ms", founded)
					.row("Redis' memory per shard, bytes", bytesPerShard)
					.row("leases that ended because no reply came in time", group.suspensions())
					.lines()
					.forEach(System.out::println);
			}
		}
	}

	private static Map<Kind, Change> change(Group group, RedisFigures redis, int rounds, RawFigures raw)
			throws Exception {
		Map<Kind, Change> changes = new EnumMap<>(Kind.class);
		for (int round = 1; round <= rounds; round++) {
			for (Kind kind : ROUND) {
				// So that one change does not ride on the other's work.
				TimeUnit.SECONDS.sleep(1);
				Change change = changes.computeIfAbsent(kind, (unseen) -> new Change());
				raw.add("changes", kind, round, "ms", change.happen(kind, group, redis));
			}
			group.verify();
		}
		return changes;
	}

	private static Table table(int members, int shards, Map<Kind, Change> changes) {
		Table table = new Table("%,d members, %,d shards".formatted(members, shards), "times", "shards that moved",
				"ms until every member has its assignment: p50 / p99 / max",
				"ms from the end of lease or session: p50 / p99 / max");
		changes.forEach((kind, change) -> table.row(kind.text(), change.millis().values().size(),
				change.moves().median(), Table.quantiles(change.millis()), Table.quantiles(change.millisFromEnd())));
		return table;
	}

}
