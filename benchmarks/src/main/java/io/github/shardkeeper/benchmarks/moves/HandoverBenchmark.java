package io.github.shardkeeper.benchmarks.moves;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.shardkeeper.benchmarks.Benchmark;
import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

/**
 * How long shards are without an owner when an instance comes, goes, dies or freezes,
 * beside Kafka's group protocols.
 */
public final class HandoverBenchmark implements Benchmark {

	/** As many run at once, and each is to have some. */
	private static final int MOST_INSTANCES = 3;

	/** Each takes its servers' start, so there are no more of them. */
	private static final int TURNS = 2;

	private static final String EVENTS = "events";

	/** Those that are not a benchmark of their own. */
	private static final Set<Event> ALL = EnumSet.range(Event.QUIET, Event.REDIS_PAUSE);

	@Override
	public String description() {
		return """
				How long shards stand still when an instance joins, leaves, dies or freezes, beside Kafka.
				--settings=default (or tightest: of Kafka's sessions; or Shardkeeper alone: profiles, each of its
				profiles of sessions; users, in a boot jar with web, actuator and state, with and without the
				warm-up at start) --contenders=… (parts of their names; without the option all but Shardkeeper on
				Kafka)
				--events=quiet,join,kill,freeze,process-pause,redis-pause (leave comes with join)
				--rounds=5 --kills=… --shards=32
				The raw figures are left in handover-<settings>.csv, with -part before the dot if not all was asked
				for.""";
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("settings", GroupProtocol.OPTION, EVENTS, "rounds", "kills", "shards"));
		String settings = options.choice("settings", GroupProtocol.SETTINGS, GroupProtocol.DEFAULT);
		int shards = options.number("shards", 32, MOST_INSTANCES);
		// Invalid options are refused before anything is started.
		Map<GroupProtocol, HandoverScenario> scenarios = new LinkedHashMap<>();
		GroupProtocol.chosen(options, GroupProtocol.of(settings))
			.forEach((protocol) -> scenarios.put(protocol, scenario(protocol, settings, options)));
		Path raw = rawFigures("handover-" + settings, options);
		List<GroupResults> all = Turns.run(List.copyOf(scenarios.keySet()), shards, TURNS,
				(turn, group, results) -> Objects.requireNonNull(scenarios.get(results.protocol()))
					.part(turn, TURNS)
					.run(group, results),
				(seen) -> Files.write(raw, GroupResults.raw(seen)));
		new HandoverTable(all).lines().forEach(System.out::println);
		all.forEach(GroupResults::verify);
	}

	/** The result of a part does not replace the result of a whole run. */
	static Path rawFigures(String name, Options options) {
		boolean part = options.values().containsKey(GroupProtocol.OPTION) || options.values().containsKey(EVENTS);
		return Path.of(name + (part ? "-part" : "") + ".csv");
	}

	/** Chosen so that a run ends within ten minutes on two cores. */
	static HandoverScenario scenario(GroupProtocol protocol, String settings, Options options) {
		boolean defaults = settings.equals(GroupProtocol.DEFAULT);
		Set<Event> events = EnumSet.of(Event.QUIET, Event.JOIN, Event.KILL, Event.FREEZE);
		if (settings.equals(GroupProtocol.USERS)) {
			events = EnumSet.of(Event.QUIET, Event.JOIN);
		}
		else if (settings.equals(GroupProtocol.PROFILES)) {
			events = EnumSet.of(Event.QUIET, Event.KILL, Event.PROCESS_PAUSE, Event.REDIS_PAUSE);
		}
		else if (defaults && !protocol.isShardkeeper()) {
			// A session of 45 s survives any freeze of 10 s.
			events.remove(Event.FREEZE);
		}
		if (options.values().containsKey(EVENTS)) {
			List<String> names = options.choices(EVENTS, ALL.stream().map(Event::option).toList(), List.of());
			events = EnumSet.copyOf(ALL.stream().filter((event) -> names.contains(event.option())).toList());
		}
		return new HandoverScenario(events, options.number("rounds", 5, 1),
				options.number("kills", (protocol.isShardkeeper() || !defaults) ? 3 : 1, 1), 3000, 10_000);
	}

}
