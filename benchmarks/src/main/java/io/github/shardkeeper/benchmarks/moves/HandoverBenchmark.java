package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Options;

/**
 * How long shards are without an owner when an instance comes, goes, dies or freezes,
 * beside Kafka's group protocols.
 */
public final class HandoverBenchmark implements Benchmark {

	private static final String DEFAULT = "default";

	/** Each takes its servers' start, so there are no more of them. */
	private static final int LAPS = 2;

	private static final int TIMES_SHORTER_THAN_DEFAULT = 10;

	@Override
	public String description() {
		return """
				How long shards stand still when an instance joins, leaves, dies or freezes, beside Kafka.
				--settings=default (or 6s, tightest: of Kafka's sessions) --contenders=… (parts of their names)
				--events=quiet,bystander,join,stalled-join,kill,freeze (leave comes with join; without the option
				stalled-join with the default settings only, and a freeze of Kafka with the others only)
				--rounds=5 --kills=… --shards=32
				The raw figures are left in handover-<settings>.csv.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("settings", "contenders", "events", "rounds", "kills", "shards"));
		String settings = options.list("settings", List.of(DEFAULT)).get(0);
		int shards = options.number("shards", 32);
		List<String> wanted = options.list("contenders", List.of(""));
		List<Contender> contenders = Contender.of(settings)
			.stream()
			.filter((contender) -> wanted.stream().anyMatch((part) -> contender.name().contains(part)))
			.toList();
		List<Findings> all = new Laps(shards, LAPS).run(contenders,
				(lap, group, findings) -> course(findings.contender(), settings.equals(DEFAULT), options)
					.part(lap, LAPS)
					.run(group, findings));
		HandoverTable table = new HandoverTable(all);
		Files.write(Path.of("handover-" + settings + ".csv"), table.raw());
		table.lines().forEach(System.out::println);
		new Goals(all, settings.equals(DEFAULT) ? TIMES_SHORTER_THAN_DEFAULT : 1).lines().forEach(System.out::println);
		all.forEach(HandoverBenchmark::verify);
	}

	/**
	 * Within ten minutes on two cores: a stall before a join means little where
	 * heartbeats are frequent, a session of 45 s survives any freeze of 10 s, and only
	 * ours is judged by what the start of a process alone costs.
	 */
	private static HandoverCourse course(Contender contender, boolean defaults, Options options) {
		Set<Event> events = EnumSet.of(Event.QUIET, Event.JOIN, Event.KILL);
		if (contender.isOurs()) {
			events.add(Event.BYSTANDER);
		}
		if (defaults) {
			events.add(Event.STALLED_JOIN);
		}
		if (!defaults || contender.isOurs()) {
			events.add(Event.FREEZE);
		}
		if (options.values().containsKey("events")) {
			events = events(options.list("events", List.of()));
		}
		return new HandoverCourse(events, options.number("rounds", 5),
				options.number("kills", contender.isOurs() ? 3 : 1), 3000, 10_000, 10_000);
	}

	private static Set<Event> events(List<String> names) {
		return Arrays.stream(Event.values())
			.filter((event) -> names.contains(event.option()))
			.collect(Collectors.toCollection(() -> EnumSet.noneOf(Event.class)));
	}

	/** What must not happen to us fails the run. */
	private static void verify(Findings findings) {
		if (findings.contender().isOurs()) {
			findings.verify();
		}
	}

}
