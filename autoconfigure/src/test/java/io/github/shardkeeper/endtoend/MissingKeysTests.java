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
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A key of a group's control plane is removed, each of them in turn, while records are
 * consumed and members come, go and die; then all instances are restarted one by one.
 * Every shard has a consumer again automatically, all instances are healthy, and every
 * record is in the state once.
 * <p>
 * {@value #ROUNDS} is how often each group goes through all of it, once by default.
 * {@value #KINDS} is how many kinds of keys are removed, three by default.
 */
@Tag("proof")
@Promise("Automatic recovery")
class MissingKeysTests {

	private static final String ROUNDS = "shardkeeper.hostile.rounds";

	private static final String KINDS = "shardkeeper.hostile.kinds";

	private static final int SHARDS = 6;

	private static final String[] SETTINGS = { "--shardkeeper.session.lease=1500ms", "--shardkeeper.session.timeout=4s",
			"--shardkeeper.session.heartbeat-interval=200ms",
			// The same in a process of its own as in this JVM.
			"--shardkeeper.version=1",
			// Keeps load reports, which are keys of their own.
			"--shardkeeper.assignment.strategy=load-aware", "--shardkeeper.assignment.load.report-interval=1s" };

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final LettuceConnectionFactory connections = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.connections);

	private Feeder feeder;

	@TempDir
	private Path directory;

	@BeforeEach
	void feed() {
		this.feeder = new Feeder(this.connector, SHARDS, Duration.ofMillis(100), 2);
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.connector.stop();
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void groupRecoversFromLossOfAnyKey() {
		Set<String> kinds = kinds();
		assertThat(kinds).contains("group", "members", "sessions", "told", "shards", "changes", "loads", "reported")
			.anyMatch((kind) -> kind.startsWith("concerns"));
		Map<String, TracedGroup> groups = new TreeMap<>();
		selected(kinds).forEach((kind) -> groups.put(kind, group(kind)));
		ExecutorService threads = Executors.newFixedThreadPool(groups.size());
		Map<String, Throwable> failures = new ConcurrentSkipListMap<>();
		try {
			CompletableFuture.allOf(groups.entrySet()
				.stream()
				.map((group) -> CompletableFuture.runAsync(() -> disturb(group.getKey(), group.getValue()), threads)
					.exceptionally((failure) -> {
						failures.put(group.getKey(), failure);
						return null;
					}))
				.toArray(CompletableFuture[]::new)).join();
			Map<String, Long> fed = this.feeder.stopAll();
			groups.forEach((kind, group) -> {
				if (!failures.containsKey(kind)) {
					group.checkExact(fed);
				}
			});
			failures.values().stream().findFirst().ifPresent((failure) -> {
				AssertionError all = new AssertionError("Not healed from the loss of " + failures.keySet(), failure);
				failures.values().forEach(all::addSuppressed);
				throw all;
			});
		}
		finally {
			CompletableFuture
				.allOf(groups.values()
					.stream()
					.map((group) -> CompletableFuture.runAsync(group::close, threads))
					.toArray(CompletableFuture[]::new))
				.join();
			threads.shutdown();
		}
	}

	@Test
	void processKilledAsSessionsAreRemovedIsNotMember() throws IOException {
		Path files = Files.createDirectory(this.directory.resolve("ghosts"));
		try (TracedGroup group = TracedGroup.on(this.redis, files, "ghosts", SHARDS, SETTINGS);
				Instances processes = new Instances((instance) -> this.redis.port(), files, "ghosts", SHARDS)) {
			processes.start("killed", SETTINGS);
			group.start("one");
			group.awaitHealthy(this.feeder, "killed");

			processes.kill("killed");
			remove(group, "sessions");
			Duration alone = group.awaitHealthy(this.feeder);
			group.start("two");
			group.awaitHealthy(this.feeder);
			group.rollingRestart();
			Duration restarted = group.awaitHealthy(this.feeder);

			System.out.printf(
					"kill -9 as the sessions are removed: healthy after %d ms; after a rolling restart %d ms%n",
					alone.toMillis(), restarted.toMillis());
			group.checkExact(this.feeder.stopAll());
		}
	}

	/** Some by chance, other ones in each run: the output names them. */
	private static List<String> selected(Set<String> kinds) {
		List<String> selected = new ArrayList<>(kinds);
		Collections.shuffle(selected);
		return selected.subList(0, Math.min(selected.size(), Integer.getInteger(KINDS, 3)));
	}

	/** Keys of a running group, by the word after its name. */
	private Set<String> kinds() {
		try (TracedGroup group = group("complete")) {
			group.start("one", "two");
			group.awaitHealthy(this.feeder);
			Awaitility.await().until(() -> kinds(group).contains("loads"));
			return kinds(group);
		}
	}

	private Set<String> kinds(TracedGroup group) {
		return this.redis.call((commands) -> commands.keys(group.controlKey() + ":*"))
			.stream()
			.map((key) -> kindOf(key, group))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private TracedGroup group(String name) {
		try {
			return TracedGroup.on(this.redis, Files.createDirectory(this.directory.resolve(name)), name, SHARDS,
					SETTINGS);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void disturb(String kind, TracedGroup group) {
		group.start("one", "two", "three");
		group.awaitHealthy(this.feeder);
		for (int round = 1; round <= Integer.getInteger(ROUNDS, 1); round++) {
			remove(group, kind);
			Duration nothing = group.awaitHealthy(this.feeder);
			remove(group, kind);
			group.start("joins-" + round);
			Duration joined = group.awaitHealthy(this.feeder);
			group.die("joins-" + round);
			remove(group, kind);
			Duration died = group.awaitHealthy(this.feeder);
			remove(group, kind);
			group.stop("three");
			Duration left = group.awaitHealthy(this.feeder);
			group.start("three");
			for (String name : Set.copyOf(group.names())) {
				remove(group, kind);
				group.restart(name);
			}
			Duration restarted = group.awaitHealthy(this.feeder);
			System.out.printf(
					"%s removed; healthy after %d ms; when somebody joined %d ms, died %d ms, left %d ms; "
							+ "after a rolling restart %d ms%n",
					kind, nothing.toMillis(), joined.toMillis(), died.toMillis(), left.toMillis(),
					restarted.toMillis());
		}
	}

	private void remove(TracedGroup group, String kind) {
		List<String> keys = keys(group, kind);
		this.redis.call((commands) -> keys.isEmpty() ? 0 : commands.del(keys.toArray(String[]::new)));
	}

	private List<String> keys(TracedGroup group, String kind) {
		return this.redis.call((commands) -> commands.keys(group.controlKey() + ":*"))
			.stream()
			.filter((key) -> kindOf(key, group).equals(kind))
			.toList();
	}

	private static String kindOf(String key, TracedGroup group) {
		return key.substring(group.controlKey().length() + 1).split(":")[0];
	}

}
