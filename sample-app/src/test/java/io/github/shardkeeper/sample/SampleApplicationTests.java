package io.github.shardkeeper.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import io.github.shardkeeper.sample.feed.GeneratedLines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The whole sample, in processes of its own that are killed while they count.
 */
@DisabledOnOs(OS.WINDOWS)
@Tag("proof")
class SampleApplicationTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final int LINES = 6_000;

	private static final int LINES_PER_SECOND = 300;

	private final int redisPort = FreePorts.next();

	private final int kafkaPort = FreePorts.next();

	/** Options that select the source. */
	private List<String> sourceOptions = List.of();

	private final List<SampleInstance> instances = new ArrayList<>();

	@TempDir
	private Path logs;

	@AfterEach
	void killAll() throws InterruptedException {
		for (SampleInstance instance : this.instances) {
			instance.kill();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "kafka" })
	void countsAreExactWhicheverInstanceDies(String source) throws Exception {
		if (source.equals("kafka")) {
			this.sourceOptions = List.of("--spring.profiles.active=kafka", "--sample.kafka.port=" + this.kafkaPort);
		}
		start(3);
		awaitThat(() -> owners().size() == 3);

		awaitThat(() -> any().countedLines() >= LINES / 3);
		SampleInstance killed = feeding();
		killed.kill();
		this.instances.remove(killed);
		awaitThat(() -> owners().size() == 2);

		awaitThat(() -> any().countedLines() >= 2 * LINES / 3);
		SampleInstance terminated = feeding();
		terminated.terminate();
		this.instances.remove(terminated);
		start(1);

		awaitThat(() -> any().countedLines() >= LINES);
		awaitThat(() -> owners().size() == 2);
		assertThat(any().counts()).isEqualTo(expectedCounts(LINES));
		assertThat(any().countedLines()).isEqualTo(LINES);

		killAll();
		await().atMost(PATIENCE).until(() -> FreePorts.isFree(this.redisPort) && FreePorts.isFree(this.kafkaPort));
	}

	private void start(int count) {
		for (int i = 0; i < count; i++) {
			List<String> options = new ArrayList<>(List.of("--sample.redis.port=" + this.redisPort,
					"--sample.lines-limit=" + LINES, "--sample.lines-per-second=" + LINES_PER_SECOND));
			options.addAll(this.sourceOptions);
			this.instances.add(new SampleInstance(this.logs, options));
		}
	}

	/** Retries an instance that does not reply yet. */
	private void awaitThat(Callable<Boolean> condition) {
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(IOException.class).until(() -> {
			assertThat(this.instances).allMatch(SampleInstance::isAlive);
			return condition.call();
		});
	}

	private SampleInstance any() {
		return this.instances.get(0);
	}

	private SampleInstance feeding() {
		List<SampleInstance> feeding = new ArrayList<>();
		awaitThat(() -> {
			for (SampleInstance instance : this.instances) {
				if (instance.feeds()) {
					feeding.add(instance);
				}
			}
			return !feeding.isEmpty();
		});
		return feeding.get(0);
	}

	/** Returns the owners of the shards; empty while a shard has no owner. */
	private Set<String> owners() throws IOException {
		Set<String> owners = new HashSet<>();
		for (JsonNode shard : any().group().path("shards")) {
			if (!shard.path("owner").isString()) {
				return Set.of();
			}
			owners.add(shard.path("owner").asString());
		}
		return owners;
	}

	static Map<String, Long> expectedCounts(int lines) {
		return new GeneratedLines(lines).read(0, lines)
			.stream()
			.collect(Collectors.groupingBy(AccessLine::client, TreeMap::new, Collectors.counting()));
	}

}
