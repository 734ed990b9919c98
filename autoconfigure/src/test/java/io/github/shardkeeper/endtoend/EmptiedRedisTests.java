package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis is killed under running instances and comes back without data, before and after
 * their leases have ended: the state that the handled records have produced is there
 * again, and each is in it once. Records that were not handled yet are lost with Redis.
 * <p>
 * {@value #OUTAGES} says for how long Redis is away, in groups that are tried at the same
 * time, {@value #DEFAULT_OUTAGES} by default; 0s empties it without an outage.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("State exactly once")
class EmptiedRedisTests {

	private static final String OUTAGES = "shardkeeper.hostile.outages";

	private static final String DEFAULT_OUTAGES = "2500ms,4s,6s";

	private static final int SHARDS = 6;

	@TempDir
	private Path directory;

	@Test
	void runningInstancesRestoreTheirShardsAndLogLosses(CapturedOutput output) {
		List<Runnable> groups = new ArrayList<>();
		Stream.of(System.getProperty(OUTAGES, DEFAULT_OUTAGES).split(","))
			.map(DurationStyle::detectAndParse)
			.forEach((outage) -> groups.add(() -> empty(outage)));
		groups.add(() -> emptyWhileOneStops(output));
		ExecutorService threads = Executors.newFixedThreadPool(groups.size());
		try {
			List<Throwable> failures = new ArrayList<>();
			for (CompletableFuture<Void> group : groups.stream()
				.map((group) -> CompletableFuture.runAsync(group, threads))
				.toList()) {
				group.exceptionally((failure) -> {
					failures.add(failure.getCause());
					return null;
				}).join();
			}
			assertThat(failures).isEmpty();
		}
		finally {
			threads.shutdown();
		}
	}

	private void empty(Duration outage) {
		String name = "away-for-" + outage.toMillis();
		// With the default lease of 3 s.
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				TracedGroup group = TracedGroup.on(redis, directory(name), name, SHARDS,
						"--shardkeeper.session.timeout=6s");
				Feeder feeder = new Feeder(group.connector(), SHARDS, Duration.ofMillis(100), 2)) {
			group.start("one", "two", "three");
			group.awaitHealthy(feeder);
			if (outage.isZero()) {
				redis.call((commands) -> commands.flushall());
			}
			else {
				redis.kill();
				pause(outage);
				redis.restart();
			}
			Duration healthy = group.awaitHealthyAndConsuming();
			group.rollingRestart();
			group.awaitHealthyAndConsuming();
			feeder.stop();
			check(group, name, (line) -> true);
			System.out.printf("Redis emptied, away for %d ms: healthy after %d ms%n", outage.toMillis(),
					healthy.toMillis());
		}
	}

	/** Its holdings are lost: it logs that, and its shards start from the beginning. */
	private void emptyWhileOneStops(CapturedOutput output) {
		String name = "stops-meanwhile";
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				TracedGroup group = TracedGroup.on(redis, directory(name), name, SHARDS,
						"--shardkeeper.session.timeout=6s");
				Feeder feeder = new Feeder(group.connector(), SHARDS, Duration.ofMillis(100), 2)) {
			group.start("stays", "stops");
			group.awaitHealthy(feeder);
			redis.kill();
			group.stop("stops");
			Set<String> lost = new TreeSet<>();
			group.trace().byShard().forEach((shard, lines) -> {
				if (lines.get(lines.size() - 1).instance().equals("stops")) {
					lost.add(shard);
				}
			});
			redis.restart();
			long back = Trace.nowMicros();
			group.awaitHealthyAndConsuming();
			feeder.stop();
			check(group, name, (line) -> line.beginMicros() > back || !lost.contains(line.shard()));
			assertThat(lost).hasSize(SHARDS / 2)
				.allSatisfy((shard) -> assertThat(output.getOut().lines())
					.as("an instance reports that the state of shard %s is lost", shard)
					.anyMatch((line) -> line.contains(TracingInstance.TOPIC + "/" + shard + " ")
							&& line.contains("lost") && (line.contains("WARN") || line.contains("ERROR"))));
		}
	}

	private Path directory(String name) {
		try {
			return Files.createDirectory(this.directory.resolve(name));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Numbers that are gone with Redis leave gaps, but each that was handled counts once.
	 */
	private static void check(TracedGroup group, String name, Predicate<Line> counts) {
		group.awaitOffsetsAtTheEnd();
		Map<String, List<Line>> handled = group.trace().byShard();
		for (int shard = 0; shard < SHARDS; shard++) {
			Collection<Long> numbers = new TreeSet<>(
					handled.get(Integer.toString(shard)).stream().filter(counts).map(Line::number).toList());
			assertThat(numbers).as("handled of shard %d of %s", shard, name).containsAll(group.numbers(shard));
			State expected = new State(numbers.stream().mapToLong(Long::longValue).sum(), numbers.size());
			assertThat(group.states().get(Integer.toString(shard))).as("state of shard %d of %s", shard, name)
				.isEqualTo(expected);
		}
		assertThat(new TraceChecker(Map.of(), group.trace(), List.of()).checkOwners()).as(name).isEmpty();
	}

	private static void pause(Duration length) {
		Awaitility.await().pollDelay(length).atMost(length.multipliedBy(10)).until(() -> true);
	}

}
