package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

/**
 * Moves and pauses of shards while all instances are replaced one after the other, beside
 * Kafka's group protocols.
 */
public final class RollingBenchmark implements Benchmark {

	private static final String NEW_FIRST = "new-first";

	private static final String OLD_FIRST = "old-first";

	@Override
	public String description() {
		return """
				A rolling restart: moves and standstill of each shard, beside Kafka.
				--settings=default (or tightest: of Kafka's sessions) --contenders=… (parts of their names;
				without the option all but Shardkeeper on Kafka)
				--order=new-first (or old-first) --rounds=2 --instances=4 --shards=32
				The raw figures are left in rolling-<settings>-<order>.csv, with -part before the dot if not all was
				asked for.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("settings", GroupProtocol.OPTION, "order", "rounds", "instances", "shards"));
		String settings = options.choice("settings", GroupProtocol.SETTINGS, GroupProtocol.DEFAULT);
		String order = options.choice("order", List.of(NEW_FIRST, OLD_FIRST), NEW_FIRST);
		boolean newFirst = order.equals(NEW_FIRST);
		int instances = options.number("instances", 4, 1);
		// Every instance is to have some, also while there is one more.
		int shards = options.number("shards", Math.max(32, instances + 1), newFirst ? instances + 1 : instances);
		List<GroupProtocol> protocols = new ArrayList<>(GroupProtocol.of(settings));
		if (!newFirst) {
			protocols.addAll(GroupProtocol.withKeptShards());
		}
		Path raw = HandoverBenchmark.rawFigures("rolling-" + settings + "-" + order, options);
		RollingScenario scenario = new RollingScenario(instances, newFirst);
		List<GroupResults> all = Turns.run(GroupProtocol.chosen(options, protocols), shards,
				options.number("rounds", 2, 1), (turn, group, results) -> scenario.run(group, results),
				(seen) -> Files.write(raw, GroupResults.raw(seen)));
		new RollingTable(all).lines().forEach(System.out::println);
		all.forEach(GroupResults::verify);
	}

}
