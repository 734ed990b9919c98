package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Chaos with a Kafka that loses acknowledged records, whose topic becomes another one,
 * where transactions hang and a quota applies, while instances are killed and frozen.
 * What stops a shard has to be its problem until it is over, and a loss has to be in the
 * log. In the end each record that Kafka has is counted in the state once, and those that
 * Kafka has lost as far as they were handled, which {@link LineageChecker} checks; none
 * of an aborted transaction was handled.
 * <p>
 * The seed {@value #SEED}, which a run prints first, decides the faults, their order and
 * victims, and whether shards whose position is lost continue ({@code reset: earliest},
 * if it is odd) or wait until it is set ({@code stop}). {@value #ROUNDS} is how often
 * each family of faults has its turns, once by default; {@value #FAULTS} the kinds of
 * faults, with commas, all by default. Traces and logs stay in
 * {@code target/kafka-chaos}.
 */
@Tag("proof")
class KafkaChaosTests {

	private static final String SEED = "shardkeeper.chaos.seed";

	private static final String ROUNDS = "shardkeeper.chaos.rounds";

	private static final String FAULTS = "shardkeeper.chaos.faults";

	private static final String GROUP = "kafka-chaos";

	private static final String TOPIC = TracingInstance.KAFKA_TOPIC;

	private static final List<String> INSTANCES = List.of("i0", "i1", "i2");

	/** With the one shard in Redis, as many for each instance. */
	private static final int PARTITIONS = 8;

	/**
	 * Not one of those that lose records: it would lose ends of transactions, too, and
	 * hang for ever.
	 */
	private static final int WITH_TRANSACTIONS = 0;

	/** About a third of what is read then. */
	private static final double QUOTA = 2_000;

	private final Path directory = Path.of("target", GROUP).toAbsolutePath();

	private final long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));

	private final Random random = new Random(this.seed);

	private final boolean stops = this.seed % 2 == 0;

	/** What has started, the last first: the rest is missing if the start has failed. */
	private final List<AutoCloseable> opened = new ArrayList<>();

	private EmbeddedRedis redis;

	private EmbeddedKafka kafka;

	private LossyGroup group;

	private KafkaFaults faults;

	/** Numbers of aborted transactions. */
	private final List<Long> aborted = new ArrayList<>();

	/** A member that consumes nothing, for reports and seeks. */
	private ConfigurableApplicationContext observer;

	@BeforeEach
	void start() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
		Files.createDirectories(this.directory);
		this.redis = opened(EmbeddedRedis.start());
		// A quota is exceeded soon, and not for long.
		this.kafka = opened(EmbeddedKafka.builder().setting("quota.window.num", "2").start());
		this.group = opened(
				new LossyGroup(this.redis, this.directory, GROUP, INSTANCES.size(), PARTITIONS + 1, 1, this.seed));
		this.faults = opened(new KafkaFaults(this.kafka, TOPIC, PARTITIONS, Duration.ofMillis(100)));
		this.observer = opened(new SpringApplicationBuilder(Observer.class).web(WebApplicationType.NONE)
			.run(Stream
				.concat(arguments(),
						Stream.of("--spring.main.banner-mode=off", "--shardkeeper.group=" + GROUP,
								"--shardkeeper.instance-id=observer", "--spring.data.redis.port=" + this.redis.port()))
				.toArray(String[]::new)));
	}

	private <T extends AutoCloseable> T opened(T one) {
		this.opened.add(0, one);
		return one;
	}

	private Stream<String> arguments() {
		// The client tells of a wait for two windows, which are 30 s by default.
		return Stream.of("--spring.kafka.properties.metrics.sample.window.ms=2000",
				"--shardkeeper.topics." + TOPIC + ".source=kafka",
				"--shardkeeper.topics." + TOPIC + ".reset=" + (this.stops ? "stop" : "earliest"),
				"--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers(),
				"--spring.kafka.client-id=" + GROUP, "--spring.kafka.consumer.isolation-level=read_committed",
				"--shardkeeper.kafka.refresh-interval=1s", "--shardkeeper.kafka.long-transaction=1s",
				"--shardkeeper.session.timeout=6s", "--logging.level.io.github.shardkeeper=info",
				"--logging.level.org.apache.kafka=error");
	}

	private void startInstance(String instance) {
		this.group.instances()
			.start(instance, Stream.concat(arguments(), Stream.of("--trace.kafka=true", "--trace.work=20ms"))
				.toArray(String[]::new));
	}

	@AfterEach
	void stop() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	@Test
	void everyRecordThatKafkaHasIsCountedOnce() {
		List<PlannedFault> plan = plan(Integer.getInteger(ROUNDS, 1));
		System.out.printf("kafka chaos: seed %d, reset: %s, %s%n", this.seed, this.stops ? "stop" : "earliest", plan);
		INSTANCES.forEach(this::startInstance);
		awaitRest();
		for (PlannedFault fault : plan) {
			long begun = Trace.nowMicros();
			inject(fault);
			long over = Trace.nowMicros();
			awaitRest();
			System.out.printf("kafka chaos: %s for %.1f s, at rest after %.1f s%n", fault, (over - begun) / 1e6,
					(Trace.nowMicros() - over) / 1e6);
		}
		this.faults.feeder().stop();
		for (int partition = 0; partition < PARTITIONS; partition++) {
			List<Long> left = this.faults.left(partition);
			System.out.printf("kafka chaos: of partition %d Kafka has %d numbers up to %d%n", partition, left.size(),
					left.get(left.size() - 1));
			this.group.check(shard(partition), left);
		}
		assertThat(this.group.calls(shard(WITH_TRANSACTIONS))).as("seed %d: handled", this.seed)
			.extracting(Trace.Line::number)
			.noneMatch(this.aborted::contains);
	}

	private List<PlannedFault> plan(int rounds) {
		List<Kind> permitted = Stream.of(System.getProperty(FAULTS, "").split(","))
			.filter((name) -> !name.isEmpty())
			.map(Kind::valueOf)
			.toList();
		List<PlannedFault> plan = new ArrayList<>();
		for (int round = 0; round < rounds; round++) {
			List<PlannedFault> faults = new ArrayList<>();
			for (Family family : Family.values()) {
				List<Kind> kinds = new ArrayList<>(Stream.of(Kind.values())
					.filter((kind) -> kind.family == family && (permitted.isEmpty() || permitted.contains(kind)))
					.toList());
				Collections.shuffle(kinds, this.random);
				kinds.stream().limit(family.turns).forEach((kind) -> faults.add(planned(kind)));
			}
			Collections.shuffle(faults, this.random);
			plan.addAll(faults);
		}
		return plan;
	}

	private PlannedFault planned(Kind kind) {
		return new PlannedFault(kind, INSTANCES.get(this.random.nextInt(INSTANCES.size())), meanwhile(kind));
	}

	private Meanwhile meanwhile(Kind kind) {
		Meanwhile any = Meanwhile.values()[this.random.nextInt(Meanwhile.values().length)];
		return switch (kind) {
			case RECORDS_LOST_WHILE_FROZEN -> Meanwhile.NOTHING;
			case RECORDS_LOST_WHILE_STOPPED, TOPIC_REPLACED_WHILE_STOPPED ->
				(any == Meanwhile.FREEZE) ? Meanwhile.NOTHING : any;
			default -> any;
		};
	}

	private void inject(PlannedFault fault) {
		switch (fault.kind) {
			case BROKER_KILLED -> {
				this.kafka.kill();
				meanwhile(fault);
				this.kafka.restart();
			}
			case RECORDS_LOST_WHILE_READ -> loseRecords(fault, (lose) -> {
				lose.run();
				meanwhile(fault);
			});
			case RECORDS_LOST_WHILE_FROZEN -> loseRecords(fault, (lose) -> this.group.freeze(fault.victim, lose));
			case RECORDS_LOST_WHILE_STOPPED -> loseRecords(fault, (lose) -> whileStopped(fault, lose));
			case TOPIC_DELETED -> replaceTopic(() -> {
				this.faults.deleteTopic();
				awaitProblems(PARTITIONS, "does not exist|cannot be found");
				meanwhile(fault);
				this.faults.createTopic();
				this.faults.feed();
			});
			case TOPIC_REPLACED_AT_ONCE -> {
				replaceTopic(() -> {
					this.faults.deleteTopic();
					this.faults.createTopic();
					meanwhile(fault);
				});
				this.faults.feed();
			}
			case TOPIC_REPLACED_WHILE_STOPPED -> replaceTopic(() -> whileStopped(fault, () -> {
				this.faults.deleteTopic();
				this.faults.createTopic();
				// Beyond the positions, so that these are offsets of other records.
				this.faults.feed(highestPosition() + 10);
			}));
			case TRANSACTION_COMMITTED_LATE -> hang(fault, KafkaProducer::commitTransaction);
			case TRANSACTION_ABORTED_BY_SUCCESSOR ->
				abort(fault, () -> this.faults.producer(GROUP).close(Duration.ZERO));
			case TRANSACTION_ABORTED_BY_OPERATOR ->
				abort(fault, () -> this.faults.abortTransactions(WITH_TRANSACTIONS));
			case READERS_THROTTLED -> throttle(fault);
		}
	}

	/** What happens to an instance while Kafka is disturbed. */
	private void meanwhile(PlannedFault fault) {
		switch (fault.meanwhile) {
			case KILL -> {
				this.group.kill(fault.victim);
				this.group.awaitNothingOwnedBy(fault.victim);
				startInstance(fault.victim);
			}
			case FREEZE -> this.group.freeze(fault.victim, () -> {
			});
			case NOTHING -> {
				// The disturbance is enough.
			}
		}
	}

	private void whileStopped(PlannedFault fault, Runnable action) {
		for (String instance : INSTANCES) {
			if (fault.meanwhile == Meanwhile.KILL) {
				this.group.kill(instance);
			}
			else {
				this.group.instances().terminate(instance);
				this.group.instances().awaitEnd(instance);
			}
		}
		action.run();
		INSTANCES.forEach(this::startInstance);
	}

	/** Loses some records of the victim that were handled. */
	private void loseRecords(PlannedFault fault, Consumer<Runnable> when) {
		int partition = this.group.ownedBy(fault.victim)
			.stream()
			.filter((shard) -> shard.topic().equals(TOPIC))
			.mapToInt((shard) -> Integer.parseInt(shard.id()))
			.max()
			.orElseThrow();
		int warnings = logged(lost(partition));
		long number = 3 + this.random.nextInt(18);
		boolean fillsUp = this.random.nextBoolean();
		long[] first = new long[1];
		when.accept(() -> {
			long position = position(partition);
			first[0] = Math.max(1, position - number);
			this.faults.lose(partition, first[0]);
			if (fillsUp) {
				this.faults.awaitEnd(partition, position + 5);
			}
		});
		if (this.stops) {
			awaitProblem(partition, "has lost records that were read");
			positions().seek(shard(partition), StartPosition.after(new Offset(Long.toString(first[0] - 1))));
		}
		awaitLogged(lost(partition), warnings + 1);
	}

	private static String lost(int partition) {
		return shard(partition) + " was to be read from .* the partition has lost records that were read";
	}

	/** Another topic under its name is noticed for each shard. */
	private void replaceTopic(Runnable replace) {
		String replaced = TOPIC + "/\\d was to be read from .* its Kafka topic was deleted and created again";
		int warnings = logged(replaced);
		replace.run();
		if (this.stops) {
			awaitProblems(PARTITIONS, "its Kafka topic was deleted and created again");
			positions().seek(TOPIC, StartPosition.EARLIEST);
		}
		awaitLogged(replaced, warnings + PARTITIONS);
	}

	private void hang(PlannedFault fault, Consumer<KafkaProducer<byte[], byte[]>> end) {
		try (KafkaProducer<byte[], byte[]> producer = this.faults.beginTransaction(WITH_TRANSACTIONS, GROUP)) {
			String problem = "is not read from offset \\d+ on.*the transaction of '" + GROUP + "'";
			awaitProblem(WITH_TRANSACTIONS, problem);
			meanwhile(fault);
			awaitProblem(WITH_TRANSACTIONS, problem);
			end.accept(producer);
		}
	}

	private void abort(PlannedFault fault, Runnable abort) {
		hang(fault, (producer) -> {
			abort.run();
			this.aborted.add(this.faults.inTransaction());
		});
	}

	private void throttle(PlannedFault fault) {
		String client = GROUP + "-shardkeeper-reader";
		String begun = "brokers let the client '" + client;
		String ended = "brokers do not let the client '" + client + "' wait any more";
		int before = logged(ended);
		int warnings = logged(begun);
		this.faults.limitReading(client, QUOTA);
		awaitLogged(begun, warnings + 1);
		meanwhile(fault);
		this.faults.limitReading(client, null);
		awaitLogged(ended, before + 1);
	}

	/** All is shared, has no problem, and what was sent until now is handled. */
	private void awaitRest() {
		this.group.awaitBalance();
		Map<ShardId, Long> sent = this.faults.feeder().sent();
		Awaitility.await()
			.atMost(LossyGroup.PATIENCE)
			.pollInterval(Duration.ofMillis(500))
			.untilAsserted(() -> assertThat(sent).as("seed %d: sent", this.seed)
				.allSatisfy((shard, number) -> assertThat(this.group.calls(shard)).as("calls of %s", shard)
					.last()
					.satisfies((call) -> assertThat(call.number()).isGreaterThanOrEqualTo(number))));
		awaitProblems(0, ".*");
	}

	private void awaitProblem(int partition, String text) {
		Awaitility.await()
			.atMost(LossyGroup.PATIENCE)
			.untilAsserted(() -> assertThat(shards()).as("seed %d", this.seed)
				.filteredOn((shard) -> shard.id().equals(Integer.toString(partition)) && shard.topic().equals(TOPIC))
				.singleElement()
				.satisfies((shard) -> assertThat(shard.problem()).containsPattern(text)));
	}

	private void awaitProblems(int number, String text) {
		Awaitility.await()
			.atMost(LossyGroup.PATIENCE)
			.untilAsserted(() -> assertThat(shards()).as("seed %d", this.seed)
				.extracting(ShardReport::problem)
				.filteredOn((problem) -> problem != null && Pattern.compile(text).matcher(problem).find())
				.hasSize(number));
	}

	private List<ShardReport> shards() {
		GroupReport report = this.observer.getBean(GroupReporter.class).report();
		assertThat(report.error()).isNull();
		assertThat(report.incomplete()).isNull();
		return report.shards();
	}

	private ShardPositions positions() {
		return this.observer.getBean(ShardPositions.class);
	}

	private void awaitLogged(String pattern, int times) {
		Awaitility.await()
			.atMost(LossyGroup.PATIENCE)
			.untilAsserted(
					() -> assertThat(logged(pattern)).as("seed %d: times that the log has '%s'", this.seed, pattern)
						.isGreaterThanOrEqualTo(times));
	}

	/** Returns how often that is in the logs of the instances. */
	private int logged(String pattern) {
		Pattern compiled = Pattern.compile(pattern);
		return INSTANCES.stream()
			.map((instance) -> this.directory.resolve(instance + ".log"))
			.filter(Files::exists)
			.mapToInt((log) -> (int) lines(log).stream().filter((line) -> compiled.matcher(line).find()).count())
			.sum();
	}

	private static List<String> lines(Path log) {
		try {
			return Files.readAllLines(log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private long highestPosition() {
		return IntStream.range(0, PARTITIONS).mapToLong(this::position).max().orElseThrow();
	}

	/** Returns the last offset that is committed. */
	private long position(int partition) {
		String offset = String.valueOf(this.group.checkpoints().read(shard(partition)).offset());
		return Long.parseLong(offset.replaceAll(":.*", ""));
	}

	private static ShardId shard(int partition) {
		return ShardId.of(TOPIC, partition);
	}

	/** A disturbance of Kafka, and what happens to an instance meanwhile. */
	private record PlannedFault(Kind kind, String victim, Meanwhile meanwhile) {

		@Override
		public String toString() {
			return (this.meanwhile == Meanwhile.NOTHING) ? this.kind + " " + this.victim
					: "%s with %s of %s".formatted(this.kind, this.meanwhile, this.victim);
		}

	}

	/** Faults of which some have their turn in each round. */
	private enum Family {

		BROKER(1), LOSS(2), REPLACEMENT(1), TRANSACTION(1), QUOTA(1);

		private final int turns;

		Family(int turns) {
			this.turns = turns;
		}

	}

	private enum Kind {

		BROKER_KILLED(Family.BROKER),

		/** Acknowledged records, which were handled and committed. */
		RECORDS_LOST_WHILE_READ(Family.LOSS),

		/** Their owner is frozen meanwhile, and the shard moves. */
		RECORDS_LOST_WHILE_FROZEN(Family.LOSS),

		/** Nobody reads the shard. */
		RECORDS_LOST_WHILE_STOPPED(Family.LOSS),

		/** And created again once its shards have this problem. */
		TOPIC_DELETED(Family.REPLACEMENT),

		/** Created again before anybody hears of its end. */
		TOPIC_REPLACED_AT_ONCE(Family.REPLACEMENT),

		/** Nobody reads it. */
		TOPIC_REPLACED_WHILE_STOPPED(Family.REPLACEMENT),

		TRANSACTION_COMMITTED_LATE(Family.TRANSACTION),

		/** By the next producer with its id. */
		TRANSACTION_ABORTED_BY_SUCCESSOR(Family.TRANSACTION),

		TRANSACTION_ABORTED_BY_OPERATOR(Family.TRANSACTION),

		/** By a quota that all instances share. */
		READERS_THROTTLED(Family.QUOTA);

		private final Family family;

		Kind(Family family) {
			this.family = family;
		}

	}

	private enum Meanwhile {

		NOTHING, KILL, FREEZE

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Observer {

	}

}
