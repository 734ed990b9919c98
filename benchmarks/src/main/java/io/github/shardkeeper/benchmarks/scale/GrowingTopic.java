package io.github.shardkeeper.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * A small group whose topic gets many more shards at once, again and again.
 *
 * @param redis its Redis
 * @param members the number of members
 * @param shards the initial number of shards
 * @param more the number of shards added in each round
 * @param rounds the number of rounds, after one for warming up
 * @param connections the number of connections of each kind that the members share
 */
record GrowingTopic(RedisProcess redis, int members, int shards, int more, int rounds, int connections) {

	private static final long PATIENCE_SECONDS = 60;

	private static final double LONGEST_MILLIS = 1000;

	List<String> measure(Consumer<String> raw) throws Exception {
		int mostShards = this.shards + (this.rounds + 1) * this.more;
		try (RedisFigures figures = new RedisFigures(this.redis);
				Group group = new Group(this.redis, "growing", this.connections, this.shards, mostShards,
						this.members)) {
			for (int i = 0; i < this.members; i++) {
				group.join();
			}
			group.board().awaitEven(this.shards, PATIENCE_SECONDS);
			SlowScripts slow = new SlowScripts(figures);
			Samples millis = new Samples();
			for (int round = 0; round <= this.rounds; round++) {
				if (round == 1) {
					figures.commands().slowlogReset();
					group.times().takeCalls();
				}
				long begun = System.nanoTime();
				group.grow(this.more);
				double took = (group.board().awaitEven(group.shards(), PATIENCE_SECONDS) - begun) / 1e6;
				group.verify();
				if (round > 0) {
					millis.add(took);
					raw.accept(String.format(Locale.ROOT, "more shards,%d,%.1f,,%d,%.2f", round, took, this.more,
							Machine.load()));
				}
			}
			slow.read("more shards", group.times().takeCalls());
			return lines(millis, slow);
		}
	}

	private List<String> lines(Samples millis, SlowScripts slow) {
		List<String> lines = new ArrayList<>(List.of("",
				"| %,d members, a topic that grows | rounds | until all are taken, ms: median | lowest-highest |"
					.formatted(this.members),
				"|---|---:|---:|---:|", String.format(Locale.ROOT, "| %,d more shards | %d | %,.0f | %,.0f-%,.0f |",
						this.more, this.rounds, millis.median(), millis.lowest(), millis.highest()),
				""));
		lines.addAll(slow.lines());
		GoalTable asked = new GoalTable("seen", "at most");
		asked.atMost("%,d more shards: longest, ms".formatted(this.more), millis.highest(), LONGEST_MILLIS);
		lines.addAll(asked.lines());
		return lines;
	}

}
