package io.github.shardkeeper.benchmarks.scale;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.scale.Change.Kind;

/**
 * A group at the limit of its size: it starts, idles, and changes one member at a time.
 *
 * @param redis its Redis
 * @param members the number of members
 * @param shards the number of shards
 * @param rounds the number of times of each change
 * @param connections the number of connections of each kind that the members share
 */
record LargeGroup(RedisProcess redis, int members, int shards, int rounds, int connections) {

	private static final long PATIENCE_SECONDS = 300;

	/** Each member that leaves is replaced before the next one leaves. */
	private static final List<Kind> ROUND = List.of(Kind.LEAVE, Kind.JOIN, Kind.CRASH, Kind.JOIN, Kind.LEADER_LEAVES,
			Kind.JOIN, Kind.LEADER_CRASHES, Kind.JOIN, Kind.FREEZE, Kind.JOIN);

	private static final long QUIET_SECONDS = 10;

	private static final double LONGEST_CHANGE_MILLIS = 2000;

	/** Between two changes, so that one does not ride on the other's work. */
	private static final long PAUSE_MILLIS = 1000;

	List<String> measure(Consumer<String> raw) throws Exception {
		return measure(raw, QUIET_SECONDS, PAUSE_MILLIS);
	}

	List<String> measure(Consumer<String> raw, long quietSeconds, long pauseMillis) throws Exception {
		int mostMembers = this.members + ROUND.size() * (this.rounds + 1);
		try (RedisFigures figures = new RedisFigures(this.redis);
				Group group = new Group(this.redis, "large", this.connections, this.shards, this.shards, mostMembers)) {
			double emptyBytes = figures.of("memory", "used_memory");
			SlowScripts slow = new SlowScripts(figures);
			Costs costs = new Costs(this.redis, figures, group);
			long begun = System.nanoTime();
			for (int i = 0; i < this.members; i++) {
				group.join();
			}
			double joinedMillis = (System.nanoTime() - begun) / 1e6;
			double foundedMillis = (group.board().awaitEven(this.shards, PATIENCE_SECONDS) - begun) / 1e6;
			costs.take("start");
			slow.read("start", group.times().takeCalls());
			group.verify();
			double bytesPerShard = (figures.of("memory", "used_memory") - emptyBytes) / this.shards;
			long leaderships = group.read().epoch();
			progress("%d members joined in %.0f ms, all shards were taken after %.0f ms, in %d leaderships",
					this.members, joinedMillis, foundedMillis, leaderships);
			costs.begin();
			TimeUnit.SECONDS.sleep(quietSeconds);
			costs.take("idle");
			slow.read("idle", group.times().takeCalls());
			Map<Kind, Change> changes = change(group, figures, raw, pauseMillis, costs);
			costs.take("changes");
			slow.read("changes", group.times().takeCalls());
			// Before the heap is measured, which stops all members.
			long suspensions = group.suspensions();
			List<String> lines = new ArrayList<>(table(changes));
			lines.add("");
			lines.addAll(costs.lines());
			lines.add("");
			lines.addAll(slow.lines());
			lines.add("");
			lines.addAll(new LeaderCosts(group).lines());
			lines.add(String.format(Locale.ROOT, "| start of the group: until %,d members have joined, ms | %,.0f |",
					this.members, joinedMillis));
			lines.add(String.format(Locale.ROOT, "| start of the group: until every shard is taken, ms | %,.0f |",
					foundedMillis));
			lines.add(String.format(Locale.ROOT, "| start of the group: leaderships until then | %,d |", leaderships));
			lines.add(String.format(Locale.ROOT, "| Redis' memory per shard, bytes | %,.0f |", bytesPerShard));
			lines.add(String.format(Locale.ROOT, "| leases that ended because no answer came in time | %,d |",
					suspensions));
			lines.addAll(asked(changes, slow));
			return lines;
		}
	}

	private Map<Kind, Change> change(Group group, RedisFigures figures, Consumer<String> raw, long pauseMillis,
			Costs costs) throws Exception {
		Map<Kind, Change> changes = new EnumMap<>(Kind.class);
		for (Kind kind : Kind.values()) {
			changes.put(kind, new Change());
		}
		costs.begin();
		for (int round = 1; round <= this.rounds; round++) {
			for (Kind kind : ROUND) {
				TimeUnit.MILLISECONDS.sleep(pauseMillis);
				Change change = changes.get(kind);
				change.happen(kind, group, figures);
				List<Double> fromEnd = change.millisFromEnd().values();
				String line = String.format(Locale.ROOT, "%s,%d,%.1f,%s,%.0f,%.2f", kind.text(), round,
						last(change.millis()), fromEnd.isEmpty() ? "" : Math.round(last(change.millisFromEnd())),
						last(change.moves()), Machine.load());
				raw.accept(line);
				progress("%s", line);
			}
			group.verify();
		}
		return changes;
	}

	private static List<String> asked(Map<Kind, Change> changes, SlowScripts slow) {
		GoalTable goals = new GoalTable("seen", "at most");
		for (Kind kind : List.of(Kind.JOIN, Kind.LEAVE, Kind.LEADER_LEAVES)) {
			Samples millis = changes.get(kind).millis();
			if (!millis.values().isEmpty()) {
				goals.atMost(kind.text() + ": longest, ms", millis.highest(), LONGEST_CHANGE_MILLIS);
			}
		}
		goals.atMost("scripts that took more than 5 ms by the clock", slow.overLimit(), 0);
		return goals.lines();
	}

	private static double last(Samples samples) {
		return samples.values().get(samples.values().size() - 1);
	}

	private List<String> table(Map<Kind, Change> changes) {
		List<String> lines = new ArrayList<>(List.of("",
				"| %,d members, %,d shards | times | shards that moved | ms until every member has its assignment: median | highest | from the end of lease or session: median | highest |"
					.formatted(this.members, this.shards),
				"|---|---:|---:|---:|---:|---:|---:|"));
		changes.forEach((kind, change) -> {
			Samples fromEnd = change.millisFromEnd();
			lines.add(String.format(Locale.ROOT, "| %s | %d | %,.0f | %,.0f | %,.0f | %s |", kind.text(),
					change.millis().values().size(), change.moves().median(), change.millis().median(),
					change.millis().highest(), fromEnd.values().isEmpty() ? "|"
							: String.format(Locale.ROOT, "%,.0f | %,.0f", fromEnd.median(), fromEnd.highest())));
		});
		return lines;
	}

	private static void progress(String format, Object... values) {
		System.out.println("  " + String.format(Locale.ROOT, format, values));
	}

}
