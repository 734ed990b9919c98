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
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

import io.lettuce.core.Range;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

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
@Promise("State exactly once")
class LossyChaosTests {

	private static final String SEED = "shardkeeper.chaos.seed";

	private static final int SHARDS = 16;

	private static final List<String> INSTANCES = List.of("i0", "i1", "i2", "i3");

	/** Longer than Redis is away, so that all surviving instances may claim. */
	private static final String[] ARGUMENTS = { "--shardkeeper.session.lease=6s", "--shardkeeper.session.timeout=12s",
			"--logging.level.io.github.shardkeeper=debug", "--trace.work=20ms" };

	private final Path directory = Path.of("target", "lossy-chaos").toAbsolutePath();

	private final Path data = this.directory.resolve("redis");

	private final Path copy = this.directory.resolve("copy");

	private final long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong(1_000_000));

	private final Random random = new Random(this.seed);

	private EmbeddedRedis redis;

	private LossyGroup group;

	private Feeder feeder;

	@BeforeEach
	void start() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
		Files.createDirectories(this.data);
		this.redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir", this.data.toString());
		this.group = new LossyGroup(this.redis, this.directory, "lossy", INSTANCES.size(), SHARDS, SHARDS, this.seed);
		this.feeder = new Feeder(this.group.connector(), SHARDS, Duration.ofMillis(100), 1, Duration.ofSeconds(1));
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.group.close();
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
			this.group.check(ShardId.of(TracingInstance.TOPIC, shard), left(shard));
		}
	}

	private void lose(Kind kind, String victim) {
		Set<MemberId> before = this.group.members(victim);
		copy(this.data, this.copy);
		switch (kind) {
			case LAST_MOMENTS, EVERYTHING -> LossyGroup.pause(this.random.nextInt(100, 1500));
			case A_ROLLING_RESTART -> {
				this.group.instances().terminate(victim);
				this.group.instances().awaitEnd(victim);
				startInstance(victim);
				awaitRest();
			}
			case A_DEATH -> {
				this.group.kill(victim);
				this.group.awaitNothingOwnedBy(victim);
				this.group.awaitHandled(SHARDS);
			}
			case LAST_MOMENTS_OF_THE_DEAD -> LossyGroup.pause(this.random.nextInt(100, 1500));
		}
		this.redis.kill();
		if (kind == Kind.LAST_MOMENTS_OF_THE_DEAD) {
			this.group.kill(victim);
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
				.atMost(LossyGroup.PATIENCE)
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.until(() -> !this.group.members(victim).isEmpty()
						&& Collections.disjoint(this.group.members(victim), before));
		}
	}

	private void startInstance(String instance) {
		this.group.instances().start(instance, ARGUMENTS);
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

	private void awaitRest() {
		this.group.awaitBalance();
		this.group.awaitHandled(SHARDS);
	}

	private List<Long> left(int shard) {
		String stream = "shardkeeper:{%s#%d}:stream:%d".formatted(TracingInstance.TOPIC, shard, shard);
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
