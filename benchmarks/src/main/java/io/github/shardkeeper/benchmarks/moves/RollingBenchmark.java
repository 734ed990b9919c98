package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Options;

/**
 * How often shards move, and how long they stand still, while all instances are replaced
 * one after the other, beside Kafka's group protocols.
 */
public final class RollingBenchmark implements Benchmark {

	@Override
	public String description() {
		return """
				A rolling restart: moves and standstill of each shard, beside Kafka.
				--settings=default (or 6s, tightest: of Kafka's sessions) --contenders=… (parts of their names)
				--order=new-first (or old-first) --rounds=2 --instances=4 --shards=32
				The raw figures are left in rolling-<settings>-<order>.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("settings", "contenders", "order", "rounds", "instances", "shards"));
		String settings = options.list("settings", List.of("default")).get(0);
		String order = options.list("order", List.of("new-first")).get(0);
		boolean newFirst = switch (order) {
			case "new-first" -> true;
			case "old-first" -> false;
			default -> throw new IllegalArgumentException("There is no order '" + order + "'");
		};
		List<Contender> contenders = new ArrayList<>(Contender.of(settings));
		if (!newFirst) {
			contenders.add(Contender.withStaticMembers());
		}
		List<String> wanted = options.list("contenders", List.of(""));
		contenders.removeIf((contender) -> wanted.stream().noneMatch((part) -> contender.name().contains(part)));
		RollingCourse course = new RollingCourse(options.number("instances", 4), newFirst);
		List<Findings> all = new Laps(options.number("shards", 32), options.number("rounds", 2)).run(contenders,
				(lap, group, findings) -> course.run(group, findings));
		report(all, Path.of("rolling-" + settings + "-" + order + ".csv"));
	}

	private static void report(List<Findings> all, Path raw) throws IOException {
		RollingTable table = new RollingTable(all);
		Files.write(raw, table.raw());
		table.lines().forEach(System.out::println);
		all.stream().filter((findings) -> findings.contender().isOurs()).forEach(Findings::verify);
	}

}
