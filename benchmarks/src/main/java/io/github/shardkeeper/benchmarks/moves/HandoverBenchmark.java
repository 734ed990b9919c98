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
import io.github.shardkeeper.benchmarks.moves.KafkaSettings.Protocol;

/**
 * How long shards are without an owner when an instance comes, goes, dies or freezes,
 * beside Kafka's group protocols.
 */
public final class HandoverBenchmark implements Benchmark {

	/** As many run at once, and each is to have some. */
	private static final int MOST_INSTANCES = 3;

	/** Each takes its servers' start, so there are no more of them. */
	private static final int LAPS = 2;

	private static final int TIMES_SHORTER_THAN_DEFAULT = 10;

	@Override
	public String description() {
		return """
				How long shards stand still when an instance joins, leaves, dies or freezes, beside Kafka.
				--settings=default (or 6s, tightest: of Kafka's sessions; or users: Shardkeeper alone, in a boot jar
				with web, actuator and state, with and without the rehearsal at start, and on Java 19 and later with an
				archive of its classes) --contenders=… (parts of their names; without the option all but Shardkeeper on
				Kafka)
				--events=quiet,bystander,join,stalled-join,warm-join,kill,freeze (leave comes with join; without the
				option stalled-join with the default settings only, of Kafka's protocols with range only, a freeze
				of Kafka with the other settings only, and no warm-join, which is there for Shardkeeper alone)
				--rounds=5 --kills=… --shards=32
				The raw figures are left in handover-<settings>.csv, with -part before the dot if not all was asked
				for.""".indent(14).strip();
	}

	@Override
	public void run(Options options) throws Exception {
		options.requireOnly(Set.of("settings", "contenders", "events", "rounds", "kills", "shards"));
		String settings = options.choice("settings", Contender.SETTINGS, Contender.DEFAULT);
		boolean defaults = settings.equals(Contender.DEFAULT);
		int shards = options.number("shards", 32, MOST_INSTANCES);
		List<Contender> contenders = Contender.chosen(options, Contender.of(settings));
		// Invalid options are refused before anything is started.
		boolean users = settings.equals(Contender.USERS);
		Map<Contender, HandoverScenario> scenarios = new LinkedHashMap<>();
		contenders.forEach((contender) -> scenarios.put(contender,
				users ? usersScenario(contender, options) : scenario(contender, defaults, options)));
		Path raw = rawFigures("handover-" + settings, options);
		List<ContenderResults> all = new Rotation(shards, LAPS).run(contenders,
				(turn, group, results) -> Objects.requireNonNull(scenarios.get(results.contender()))
					.part(turn, LAPS)
					.run(group, results),
				(seen) -> Files.write(raw, new HandoverTable(seen).raw()));
		new HandoverTable(all).lines().forEach(System.out::println);
		(users ? new UsersGoals(all).lines() : new Goals(all, defaults ? TIMES_SHORTER_THAN_DEFAULT : 1).lines())
			.forEach(System.out::println);
		all.forEach(HandoverBenchmark::verify);
	}

	/** The result of a part does not replace the result of a whole run. */
	static Path rawFigures(String name, Options options) {
		boolean part = options.values().containsKey(Contender.CONTENDERS) || options.values().containsKey("events");
		return Path.of(name + (part ? "-part" : "") + ".csv");
	}

	/**
	 * Within ten minutes on two cores: a stall before a join means little where
	 * heartbeats are frequent, and where shards do not wait for all heartbeats, a session
	 * of 45 s survives any freeze of 10 s, and only shardkeeper is judged by what the
	 * start of a process alone costs.
	 */
	static HandoverScenario scenario(Contender contender, boolean defaults, Options options) {
		Set<Event> events = EnumSet.of(Event.QUIET, Event.JOIN, Event.KILL);
		if (contender.isShardkeeper()) {
			events.add(Event.BYSTANDER);
		}
		if (defaults && (contender.isShardkeeper() || contender.name().endsWith(Protocol.RANGE.title()))) {
			events.add(Event.STALLED_JOIN);
		}
		if (!defaults || contender.isShardkeeper()) {
			events.add(Event.FREEZE);
		}
		if (options.values().containsKey("events")) {
			events = events(contender, options);
		}
		return new HandoverScenario(events, options.number("rounds", 5, 1),
				options.number("kills", (contender.isShardkeeper() || !defaults) ? 3 : 1, 1), 3000, 10_000, 10_000);
	}

	/** A bystander has started when it is no longer looked at. */
	static HandoverScenario usersScenario(Contender contender, Options options) {
		Set<Event> events = options.values().containsKey("events") ? events(contender, options)
				: EnumSet.of(Event.QUIET, Event.BYSTANDER, Event.JOIN, Event.WARM_JOIN);
		return new HandoverScenario(events, options.number("rounds", 6, 1), options.number("kills", 3, 1), 6000, 10_000,
				10_000);
	}

	private static Set<Event> events(Contender contender, Options options) {
		// The others belong to benchmarks of their own.
		Set<Event> possible = EnumSet.range(Event.QUIET, Event.FREEZE);
		List<String> names = options.choices("events", possible.stream().map(Event::option).toList(), List.of());
		possible.removeIf((event) -> !names.contains(event.option()));
		if (!contender.isShardkeeper()) {
			possible.remove(Event.WARM_JOIN);
		}
		if (possible.contains(Event.LEAVE)) {
			// A leave needs a join.
			possible.add(Event.JOIN);
		}
		return possible;
	}

	/** Fails the run if Shardkeeper has lost or repeated a record. */
	private static void verify(ContenderResults results) {
		if (results.contender().isShardkeeper()) {
			results.verify();
		}
	}

}
