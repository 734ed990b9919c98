package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.endtoend.LineageChecker.Death;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Chaos with a Redis that loses acknowledged writes: it is killed and comes back with an
 * older copy of its append-only file, or with nothing, while instances come, go and die
 * in the moments that are lost. {@link LineageChecker} knows what may be handled again
 * then.
 * <p>
 * Every kind of loss has its turn; their order and lengths are decided by the seed
 * {@value #SEED}, which a run prints first. Traces and logs stay in
 * {@code target/lossy-chaos}.
 */
@Tag("proof")
class LossyChaosTests {

	private static final String SEED = "shardkeeper.chaos.seed";

	private static final int SHARDS = 16;

	private static final List<String> INSTANCES = List.of("i0", "i1", "i2", "i3");

	/** Longer than Redis is away, so that all surviving instances may claim. */
	private static final String[] ARGUMENTS = { "--shardkeeper.session.lease=6s", "--shardkeeper.session.timeout=12s",
			"--logging.level.io.github.shardkeeper=debug", "--trace.work=20ms" };

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private final Path directory = Path.of("target", "lossy-chaos").toAbsolutePath();

	private final Path data = this.directory.resolve("redis");

	private final Path copy = this.directory.resolve("copy");

	private final long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));

	private final Random random = new Random(this.seed);

	private final List<Death> deaths = new ArrayList<>();

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private RedisCoordinationStore store;

	private RedisCheckpointStore checkpoints;

	private Instances instances;

	private Feeder feeder;

	@BeforeEach
	void start() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
		Files.createDirectories(this.data);
		this.redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir", this.data.toString());
		this.connections = RedisClients.factory(this.redis);
		RedisConnector connector = new RedisConnector(this.connections);
		this.store = new RedisCoordinationStore(connector, "shardkeeper", "lossy", Duration.ofSeconds(10));
		this.checkpoints = new RedisCheckpointStore(connector, "shardkeeper", "lossy", Duration.ofSeconds(10));
		this.instances = new Instances((instance) -> this.redis.port(), this.directory, "lossy", SHARDS);
		this.feeder = new Feeder(connector, SHARDS, Duration.ofMillis(100), 1, Duration.ofSeconds(1));
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.instances.close();
		this.store.close();
		this.checkpoints.close();
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void lostWritesRepeatOnlyRecordsOfDeadOwners() {
		System.out.printf("lossy chaos: seed %d%n", this.seed);
		INSTANCES.forEach(this::startInstance);
		awaitRest();
		List<Kind> kinds = new ArrayList<>(Arrays.asList(Kind.values()));
		Collections.shuffle(kinds, this.random);
		for (Kind kind : kinds) {
			String victim = INSTANCES.get(this.random.nextInt(INSTANCES.size()));
			long begun = Trace.nowMicros();
			lose(kind, victim);
			awaitRest();
			System.out.printf("lossy chaos: %s %s, at rest after %.1f s%n", kind, victim,
					(Trace.nowMicros() - begun) / 1e6);
		}
		this.feeder.stop();
		for (int shard = 0; shard < SHARDS; shard++) {
			check(ShardId.of(TracingInstance.TOPIC, shard));
		}
	}

	private void lose(Kind kind, String victim) {
		Set<MemberId> before = members(victim);
		copy(this.data, this.copy);
		switch (kind) {
			case LAST_MOMENTS, EVERYTHING -> pause(this.random.nextInt(100, 1500));
			case A_ROLLING_RESTART -> {
				this.instances.terminate(victim);
				this.instances.awaitEnd(victim);
				startInstance(victim);
				awaitRest();
			}
			case A_DEATH -> {
				kill(victim);
				awaitNothingOwnedBy(victim);
				awaitHandled(Trace.nowMicros());
			}
			case LAST_MOMENTS_OF_THE_DEAD -> pause(this.random.nextInt(100, 1500));
		}
		this.redis.kill();
		if (kind == Kind.LAST_MOMENTS_OF_THE_DEAD) {
			kill(victim);
		}
		FileSystemUtils.deleteRecursively(this.data.toFile());
		if (kind == Kind.EVERYTHING) {
			this.data.toFile().mkdirs();
		}
		else {
			copy(this.copy, this.data);
		}
		this.redis.restart();
		if (kind == Kind.A_DEATH || kind == Kind.LAST_MOMENTS_OF_THE_DEAD) {
			startInstance(victim);
		}
		if (kind != Kind.LAST_MOMENTS && kind != Kind.EVERYTHING) {
			// The copy names the former owner: a shard that moves to it meanwhile has
			// none.
			Awaitility.await()
				.atMost(PATIENCE)
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.until(() -> !members(victim).isEmpty() && Collections.disjoint(members(victim), before));
		}
	}

	private Set<MemberId> members(String instance) {
		return this.store.readChanges(0, -1)
			.members()
			.stream()
			.map(GroupMember::id)
			.filter((id) -> id.instance().equals(instance))
			.collect(Collectors.toSet());
	}

	private void startInstance(String instance) {
		this.instances.start(instance, ARGUMENTS);
	}

	private void kill(String instance) {
		this.instances.kill(instance);
		this.instances.awaitEnd(instance);
		this.deaths.add(new Death(instance, Trace.nowMicros()));
	}

	/** Copies the current file, perhaps in the middle of a write. */
	private static void copy(Path from, Path to) {
		try {
			FileSystemUtils.deleteRecursively(to);
			FileSystemUtils.copyRecursively(from, to);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Lets time pass, in which Redis writes data that it will lose. */
	private static void pause(long millis) {
		try {
			new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private void awaitNothingOwnedBy(String instance) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.store.readChanges(0, -1)
				.ownerships()
				.stream()
				.noneMatch((ownership) -> ownership.owner() != null && ownership.owner().instance().equals(instance)));
	}

	/** All are there, with the same number of shards, and handle what comes. */
	private void awaitRest() {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.untilAsserted(() -> {
				GroupChanges group = this.store.readChanges(0, -1);
				Map<String, Long> loads = group.ownerships()
					.stream()
					.filter((ownership) -> ownership.phase() == Phase.OWNED)
					.collect(Collectors.groupingBy(LossyChaosTests::owner, Collectors.counting()));
				assertThat(loads).as("seed %d: %s", this.seed, group).hasSize(INSTANCES.size());
				assertThat(loads.values()).as("seed %d: %s", this.seed, group)
					.containsOnly((long) SHARDS / INSTANCES.size());
			});
		awaitHandled(Trace.nowMicros());
	}

	private static String owner(Ownership ownership) {
		return String.valueOf(ownership.owner());
	}

	/** Every shard handles records again. */
	private void awaitHandled(long sinceMicros) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(Trace.read(this.directory).byShard().values())
				.as("seed %d: shards that handle records", this.seed)
				.filteredOn((lines) -> lines.get(lines.size() - 1).beginMicros() > sinceMicros)
				.hasSize(SHARDS));
	}

	private void check(ShardId shard) {
		List<Long> left = left(shard);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			List<Trace.Line> calls = calls(shard);
			Trace.Line last = calls.get(calls.size() - 1);
			assertThat(last.number()).isGreaterThanOrEqualTo(left.get(left.size() - 1));
			assertThat(state(shard)).isEqualTo(new State(last.sum(), last.count()));
		});
		assertThat(LineageChecker.check(calls(shard), left, state(shard), this.deaths))
			.as("%s, seed %d; traces and logs are in %s", shard, this.seed, this.directory)
			.isEmpty();
	}

	private List<Trace.Line> calls(ShardId shard) {
		return Trace.read(this.directory).byShard().get(shard.id());
	}

	private State state(ShardId shard) {
		Map<String, String> state = this.checkpoints.read(shard).state();
		return new State(Long.parseLong(state.getOrDefault("sum", "0")),
				Long.parseLong(state.getOrDefault("count", "0")));
	}

	private List<Long> left(ShardId shard) {
		String stream = "shardkeeper:{%s#%s}:stream:%s".formatted(shard.topic(), shard.id(), shard.id());
		return this.redis.call((commands) -> commands.xrange(stream, Range.unbounded()))
			.stream()
			.map((message) -> Long.parseLong(message.getBody().get("v")))
			.toList();
	}

	/** Data that is lost. */
	private enum Kind {

		/** Writes acknowledged for up to 1.5 s. */
		LAST_MOMENTS,

		/** All of it. */
		EVERYTHING,

		/** That shards moved away from an instance, and back to its successor. */
		A_ROLLING_RESTART,

		/** Death of an instance, and its successor. */
		A_DEATH,

		/** The same, and an instance dies at the same time. */
		LAST_MOMENTS_OF_THE_DEAD

	}

}
