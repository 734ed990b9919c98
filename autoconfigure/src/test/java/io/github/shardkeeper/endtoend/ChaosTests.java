package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.endtoend.Fault.Kind;
import io.github.shardkeeper.endtoend.FaultPlan.Round;
import io.github.shardkeeper.jdbc.TestDatabase;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.FaultyProxy;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Four instances as processes, each with a network of its own to a real Redis, and a
 * Kafka that is the source of one topic, while one thing after the other goes wrong,
 * sometimes two at a time. Afterwards a {@link TraceChecker} checks the traces of the
 * handlers, {@link RecordOutcomes} the records of {@link UnreliableHandlers},
 * {@link BookedGroup} the rows that handlers have written to a database and the records
 * that they have sent in the same transactions, {@link ForwardedGroup} the records that
 * they have sent as parts of other calls, and {@link RemindedGroup} timers and entries
 * that expire.
 * <p>
 * Options are system properties: {@value #DURATION} (one minute by default; from three
 * minutes on at least until every kind of fault was there once) and {@value #SEED}, which
 * decides the faults, their order and their lengths, as a run prints it;
 * {@value #FAULTS}, the kinds of faults, with commas, all by default; {@value #DATABASE},
 * that of {@link Bookings}, {@code POSTGRESQL}, {@code MARIADB}, {@code MYSQL} or
 * {@code H2}; and {@value #PROFILE}, that of the sessions, {@code STANDARD} or
 * {@code FAST_FAILOVER}. Traces and logs stay in {@code target/chaos}.
 */
@RunAlone
@Promise({ "One consumer", "No zombie writes", "Nothing lost", "State exactly once", "Sent once", "Timers fire once",
		"Order", "Other keys continue", "Tokens never repeat", "Automatic recovery" })
class ChaosTests {

	private static final String DURATION = "shardkeeper.chaos.duration";

	private static final String SEED = "shardkeeper.chaos.seed";

	private static final String FAULTS = "shardkeeper.chaos.faults";

	private static final String DATABASE = "shardkeeper.chaos.database";

	private static final String PROFILE = "shardkeeper.chaos.profile";

	private static final Duration LONG = Duration.ofMinutes(3);

	private static final int SHARDS = 64;

	private static final int PARTITIONS = 8;

	private static final List<String> INSTANCES = List.of("i0", "i1", "i2", "i3");

	/** Its shards are kept for longer than a restart takes on any machine. */
	private static final String PATIENT = "i0";

	/** Its shards are kept for a moment, so that it always returns too late. */
	private static final String HASTY = "i1";

	/** Shorter than the default, so that a minute sees several ends of sessions. */
	private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(6);

	/** A machine may have no time for a process for longer than one would think. */
	private static final Duration LONGEST_STANDSTILL_WITHOUT_FAULT = Duration.ofSeconds(5);

	private static final List<String> ARGUMENTS = Stream
		.concat(UnreliableHandlers.ARGUMENTS.stream(),
				Stream.of("--shardkeeper.session.timeout=" + SESSION_TIMEOUT.toSeconds() + "s", "--trace.work=60ms",
						"--trace.kafka=true", "--shardkeeper.topics." + TracingInstance.KAFKA_TOPIC + ".source=kafka",
						"--logging.level.io.github.shardkeeper=debug", "--logging.level.org.apache.kafka=error"))
		.toList();

	private final Path directory = Path.of("target", "chaos");

	private final Duration duration = DurationStyle.detectAndParse(System.getProperty(DURATION, "1m"));

	private final long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));

	private final Set<Kind> kinds = kinds(System.getProperty(FAULTS, ""));

	private final Profile profile = Profile.valueOf(System.getProperty(PROFILE, Profile.STANDARD.name()));

	private final TestDatabase database = TestDatabase
		.valueOf(System.getProperty(DATABASE, TestDatabase.POSTGRESQL.name()));

	private final ChaosReport report = new ChaosReport();

	private final Map<String, FaultyProxy> proxies = new TreeMap<>();

	private EmbeddedRedis redis;

	private EmbeddedKafka kafka;

	private Instances instances;

	private ChaosGroup group;

	private FaultInjector faults;

	private long begin;

	@BeforeEach
	void start() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
		Path data = Files.createDirectories(this.directory.resolve("redis"));
		// Not fsynced: Redis writes before it replies, and the data survives a killed
		// process. With "everysec" a write may be up to two seconds late, while an fsync
		// is running: then Redis would lose acknowledged writes, which no test here
		// promises to survive unnoticed.
		this.redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir",
				data.toAbsolutePath().toString());
		INSTANCES.forEach((instance) -> this.proxies.put(instance, new FaultyProxy(this.redis.port(), "{chaos}")));
		this.instances = new Instances((instance) -> this.proxies.get(instance).port(), this.directory, "chaos",
				SHARDS);
		this.kafka = EmbeddedKafka.start();
		this.group = new ChaosGroup(this.redis, this.kafka, "chaos", INSTANCES.size(), SHARDS, PARTITIONS,
				Duration.ofMillis(150),
				new BookedGroup(this.redis, this.database, this.directory.resolve("database").toAbsolutePath()));
		List<String> arguments = new ArrayList<>(ARGUMENTS);
		arguments.addAll(Forwarding.ARGUMENTS);
		arguments.addAll(Reminders.ARGUMENTS);
		arguments.add("--shardkeeper.session.profile=" + this.profile);
		arguments.addAll(this.group.booked().arguments());
		arguments.add("--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());
		this.faults = new FaultInjector(this.redis, this.kafka, this.instances, this.proxies, this.group,
				(instance) -> Stream.concat(arguments.stream(), onLeave(instance)).toList());
	}

	private static Set<Kind> kinds(String names) {
		return names.isEmpty() ? EnumSet.allOf(Kind.class)
				: Stream.of(names.split(","))
					.map(Kind::valueOf)
					.collect(Collectors.toCollection(() -> EnumSet.noneOf(Kind.class)));
	}

	private static Stream<String> onLeave(String instance) {
		return switch (instance) {
			case PATIENT -> Stream.of("--shardkeeper.session.on-leave=keep", "--shardkeeper.session.away-timeout=60s");
			case HASTY -> Stream.of("--shardkeeper.session.on-leave=keep", "--shardkeeper.session.away-timeout=1s");
			default -> Stream.of("--shardkeeper.session.on-leave=release");
		};
	}

	@AfterEach
	void stop() {
		this.faults.close();
		this.instances.close();
		this.group.close();
		this.proxies.values().forEach(FaultyProxy::close);
		this.redis.close();
		this.kafka.close();
	}

	@Test
	void promisesHoldUnderEveryFault() {
		System.out.printf(
				"chaos: seed %d for %d s; %d instances, %d shards, %d partitions in Kafka, rows in %s, profile %s, lease %.1f s, session timeout %.1f s%n",
				this.seed, this.duration.toSeconds(), INSTANCES.size(), SHARDS, PARTITIONS, this.database, this.profile,
				seconds(this.profile.lease), seconds(SESSION_TIMEOUT));
		this.begin = Trace.nowMicros();
		INSTANCES.forEach(this.faults::startInstance);
		this.group.awaitRest();
		this.report.disrupted("the start", this.begin, Trace.nowMicros());
		FaultPlan plan = new FaultPlan(this.seed, this.kinds, INSTANCES.size(), this.profile.lease);
		Set<Kind> missing = (this.duration.compareTo(LONG) < 0) ? EnumSet.noneOf(Kind.class)
				: EnumSet.copyOf(this.kinds);
		do {
			Round round = plan.next();
			run(round);
			round.faults().forEach((fault) -> missing.remove(fault.kind()));
			this.faults.pause(round.rest());
		}
		// At least one round, however long the start took.
		while (elapsed().compareTo(this.duration) < 0 || !missing.isEmpty());
		Map<String, Long> fed = this.group.stopFeeding();
		this.group.awaitAllCommitted(fed);
		System.out.printf("chaos: %s%n", this.group.unreliable().awaitSettledAndCheck());
		System.out.printf("chaos: %s%n", this.group.forwarded().awaitForwardedAndCheck());
		System.out.printf("chaos: %s%n", this.group.booked().awaitBookedAndCheck());
		System.out.printf("chaos: %s%n", this.group.reminded().awaitFiredAndCheck());
		System.out.printf("chaos: %s%n", this.group.sentOnce().stopAndCheck(Duration.ofSeconds(90)));
		check(fed);
	}

	private void run(Round round) {
		Map<ShardId, Ownership> before = this.group.ownerships();
		String leader = this.group.leader();
		List<String> victims = victims(round, leader);
		long began = Trace.nowMicros();
		Duration offset = elapsed();
		List<CompletableFuture<Void>> running = new ArrayList<>();
		for (int i = 0; i < victims.size(); i++) {
			Fault fault = round.faults().get(i);
			String victim = victims.get(i);
			if (i > 0) {
				this.faults.pause(round.secondAfter());
			}
			this.report.began(fault.kind(), victim.equals(leader));
			running.add(this.faults.begin(fault, victim));
		}
		running.forEach(CompletableFuture::join);
		Duration over = elapsed();
		this.group.awaitRest();
		long moved = this.group.movedSince(before);
		String what = describe(round, victims, leader);
		this.report.disrupted(what, began, Trace.nowMicros());
		System.out.printf("%5.1f s  %s; over after %.1f s, at rest %.1f s later, %d shards have moved%n",
				seconds(offset), what, seconds(over.minus(offset)), seconds(elapsed().minus(over)), moved);
		if (round.faults().size() == 1) {
			checkMoves(what, round.faults().get(0).kind(), victims.get(0), before);
		}
	}

	private void checkMoves(String what, Kind kind, String victim, Map<ShardId, Ownership> before) {
		Map<ShardId, Ownership> after = this.group.ownerships();
		if (kind.returnsShards()) {
			before.values().removeIf((owned) -> returned(owned, after.get(owned.shard()), victim));
			after.keySet().retainAll(before.keySet());
		}
		if (!kind.movesShards()) {
			assertThat(after).as("no shard moves because of %s", what).isEqualTo(before);
		}
	}

	/** Whether it belongs to the next process of its instance, under a new token. */
	private static boolean returned(Ownership before, Ownership after, String instance) {
		return before.owner().instance().equals(instance) && after.owner().instance().equals(instance)
				&& !before.owner().equals(after.owner()) && before.token().compareTo(after.token()) < 0;
	}

	/** On two different instances. */
	private List<String> victims(Round round, String leader) {
		List<String> victims = new ArrayList<>();
		for (Fault fault : round.faults()) {
			victims.add(victim(fault, leader));
		}
		if (victims.size() > 1 && victims.get(0).equals(victims.get(1))) {
			int other = isForOneInstance(round.faults().get(1).kind()) ? 0 : 1;
			victims.set(other, INSTANCES.get((INSTANCES.indexOf(victims.get(other)) + 1) % INSTANCES.size()));
		}
		return victims;
	}

	private static String victim(Fault fault, String leader) {
		return switch (fault.kind()) {
			case RESTART_IN_PLACE -> PATIENT;
			case LATE_RETURN -> HASTY;
			default -> (fault.toLeader() && !leader.isEmpty()) ? leader : INSTANCES.get(fault.instance());
		};
	}

	private static boolean isForOneInstance(Kind kind) {
		return kind == Kind.RESTART_IN_PLACE || kind == Kind.LATE_RETURN;
	}

	private static String describe(Round round, List<String> victims, String leader) {
		List<String> texts = new ArrayList<>();
		for (int i = 0; i < victims.size(); i++) {
			Fault fault = round.faults().get(i);
			String victim = victims.get(i);
			texts.add("%s %s%s for %.1f s".formatted(fault.kind(), victim, victim.equals(leader) ? " (leader)" : "",
					seconds(fault.length())));
		}
		return String.join(" and %.1f s later ".formatted(seconds(round.secondAfter())), texts);
	}

	private void check(Map<String, Long> fed) {
		Trace trace = Trace.read(this.directory);
		TraceChecker checker = new TraceChecker(fed, trace, this.faults.freezes());
		var violations = checker.check(this.group.states());
		System.out.printf("chaos: seed %d, %.1f s%n%s", this.seed, seconds(elapsed()),
				this.report.text(fed, trace, checker));
		assertThat(violations).as("seed %d; traces and logs are in %s", this.seed, this.directory.toAbsolutePath())
			.isEmpty();
		assertThat(this.report.longestOutsideOfFaults(trace).length()).as("without a fault nothing stands still")
			.isLessThan(LONGEST_STANDSTILL_WITHOUT_FAULT);
	}

	private Duration elapsed() {
		return Trace.micros(Trace.nowMicros() - this.begin);
	}

	private static double seconds(Duration duration) {
		return duration.toMillis() / 1000.0;
	}

	/** Profiles of sessions, with their leases. */
	private enum Profile {

		STANDARD(3000), FAST_FAILOVER(1500);

		private final Duration lease;

		Profile(long leaseMillis) {
			this.lease = Duration.ofMillis(leaseMillis);
		}

	}

}
