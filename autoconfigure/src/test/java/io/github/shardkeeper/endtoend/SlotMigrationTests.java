package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisCluster.SlotMigration;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Slots of a Cluster move from node to node while records are consumed: those of the
 * group's control plane, of shards' checkpoints, and of streams. Instances suspend once
 * at most, nothing changes hands, and every record is in the state once.
 * <p>
 * {@value #ROUNDS} is how often the slots move, once by default.
 */
@Tag("proof")
@Promise({ "Other shards continue", "Automatic recovery" })
class SlotMigrationTests {

	private static final String ROUNDS = "shardkeeper.hostile.rounds";

	private static final int SHARDS = 6;

	private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(4);

	/** Duration of moving a slot by hand, or one whose keys are large. */
	private static final Duration SLOW = Duration.ofMillis(700);

	private static final int ALL_KEYS = 1000;

	private static EmbeddedRedisCluster cluster;

	@TempDir
	private Path directory;

	private TracedGroup group;

	private Feeder feeder;

	@BeforeAll
	static void startCluster() {
		cluster = EmbeddedRedisCluster.start(3);
	}

	@AfterAll
	static void stopCluster() {
		cluster.close();
	}

	@BeforeEach
	void start(TestInfo test) {
		this.group = TracedGroup.on(cluster, this.directory, test.getTestMethod().orElseThrow().getName(), SHARDS,
				"--shardkeeper.session.lease=2s", "--shardkeeper.session.timeout=" + SESSION_TIMEOUT.toSeconds() + "s",
				"--shardkeeper.session.heartbeat-interval=300ms");
		cluster.empty();
		this.feeder = new Feeder(this.group.connector(), SHARDS, Duration.ofMillis(100), 2);
		this.group.start("one", "two", "three");
		this.group.awaitHealthy(this.feeder);
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.group.close();
	}

	@Test
	void slotOfGroupMigratesWithoutMovingShards() {
		String key = this.group.controlKey();
		for (int round = 0; round < Integer.getInteger(ROUNDS, 1); round++) {
			inPlace("slowly, with a break in the middle", () -> {
				SlotMigration migration = cluster.beginMigration(key, cluster.mastersWithout(key).get(0));
				slowly(migration, 3);
				pause(SESSION_TIMEOUT.plusSeconds(1));
				slowly(migration, Integer.MAX_VALUE);
				migration.finish();
			});
			inPlace("all at once", () -> move(key, cluster.mastersWithout(key).get(1)));
			SlotMigration migration = cluster.beginMigration(key, cluster.mastersWithout(key).get(0));
			CompletableFuture<Void> moved = CompletableFuture.runAsync(() -> slowly(migration, Integer.MAX_VALUE));
			this.group.rollingRestart();
			moved.join();
			migration.finish();
			this.group.awaitHealthy(this.feeder);
		}
		this.group.checkExact(this.feeder.stopAll());
	}

	@Test
	void slotsOfCheckpointsAndStreamsMigrateToNewNode() {
		EmbeddedRedis added = cluster.add();
		inPlace("checkpoints slowly", () -> slowly(added, this.group.dataKey(0), this.group.dataKey(2)));
		inPlace("streams slowly", () -> slowly(added, TracedGroup.streamKey(0), TracedGroup.streamKey(1)));
		inPlace("the group's slot", () -> move(this.group.controlKey(), added));

		List<SlotMigration> halves = new ArrayList<>();
		for (int shard = 1; shard < SHARDS; shard += 2) {
			SlotMigration half = cluster.beginMigration(this.group.dataKey(shard), added);
			half.move(1);
			halves.add(half);
		}
		// Some of these shards are on their way to it, and wait.
		this.group.start("four");
		pause(SLOW);
		halves.forEach(SlotMigrationTests::atOnce);
		halves.forEach(SlotMigration::finish);
		this.group.awaitHealthy(this.feeder);
		this.group.rollingRestart();
		this.group.awaitHealthy(this.feeder);
		this.group.checkExact(this.feeder.stopAll());
	}

	/** Each instance keeps its shards and suspends at most once. */
	private void inPlace(String how, Runnable disturbance) {
		Map<String, Integer> before = suspensions();
		Map<String, Long> tokens = tokens(Long.MIN_VALUE);
		long began = Trace.nowMicros();
		disturbance.run();
		long over = Trace.nowMicros();
		Duration healthy = this.group.awaitHealthy(this.feeder);
		Map<String, Integer> after = suspensions();
		after.replaceAll((name, count) -> count - before.get(name));
		Map<String, Long> stood = new TreeMap<>();
		this.group.trace()
			.byShard()
			.forEach((shard, lines) -> stood.put(shard, Trace.longestGap(lines, began, Trace.nowMicros()).toMillis()));
		System.out.printf("moved %s in %d ms, healthy %d ms later; suspensions %s, shards stood still for %s ms%n", how,
				(over - began) / 1000, healthy.toMillis(), after, stood);
		assertThat(after.values()).as("suspensions while slots moved %s: %s", how, after)
			.allMatch((count) -> count <= 1);
		assertThat(tokens(over)).as("tokens after slots have moved %s", how).isEqualTo(tokens);
	}

	private Map<String, Integer> suspensions() {
		Map<String, Integer> suspensions = new TreeMap<>();
		this.group.names().forEach((name) -> suspensions.put(name, this.group.suspensions(name)));
		return suspensions;
	}

	/**
	 * Returns for each shard the last token under which a record was handled after a
	 * time.
	 */
	private Map<String, Long> tokens(long afterMicros) {
		Map<String, Long> tokens = new TreeMap<>();
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
			tokens.clear();
			for (Line line : this.group.trace().lines()) {
				if (line.beginMicros() > afterMicros) {
					tokens.put(line.shard(), line.token());
				}
			}
			return tokens.size() == SHARDS;
		});
		return tokens;
	}

	private static void move(String key, EmbeddedRedis target) {
		SlotMigration migration = cluster.beginMigration(key, target);
		atOnce(migration);
		migration.finish();
	}

	private static void atOnce(SlotMigration migration) {
		while (migration.move(ALL_KEYS) > 0) {
			// Also moves keys that were written meanwhile.
		}
	}

	private static void slowly(EmbeddedRedis target, String... keys) {
		for (String key : keys) {
			SlotMigration migration = cluster.beginMigration(key, target);
			slowly(migration, Integer.MAX_VALUE);
			migration.finish();
		}
	}

	private static void slowly(SlotMigration migration, int keys) {
		IntStream.range(0, keys).anyMatch((key) -> {
			pause(SLOW);
			return migration.move(1) == 0;
		});
	}

	private static void pause(Duration length) {
		Awaitility.await().pollDelay(length).atMost(length.multipliedBy(10)).until(() -> true);
	}

}
