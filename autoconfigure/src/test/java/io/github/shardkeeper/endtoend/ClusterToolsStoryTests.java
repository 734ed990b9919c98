package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Four processes build an index, round after round, with all cluster tools together; one
 * is killed at each step. All tests have the same processes: each ends when the four are
 * together again.
 */
@Tag("proof")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ClusterToolsStoryTests {

	private static final List<String> NAMES = List.of("one", "two", "three", "four");

	@TempDir
	private static Path directory;

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private StringRedisTemplate template;

	private final Map<String, Process> processes = new TreeMap<>();

	@BeforeAll
	void start() {
		this.redis = EmbeddedRedis.start();
		this.connections = new LettuceConnectionFactory("localhost", this.redis.port());
		this.connections.afterPropertiesSet();
		this.connections.start();
		this.template = new StringRedisTemplate(this.connections);
		NAMES.forEach(this::start);
		await().until(() -> steps().stream().map((step) -> step.split(" ")[0]).distinct().count() == NAMES.size());
	}

	@AfterAll
	void stop() throws InterruptedException {
		for (Process process : this.processes.values()) {
			process.destroyForcibly();
			assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
		}
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void roundsAreCompleteAndAParameterChangesTheNext() {
		long last = round() + 2;
		await().until(() -> round() > last);
		assertThat(completed(last)).as("the parties of a round without faults").endsWith("parties 4");

		this.template.opsForValue().set("wanted-weight", "7");
		long next = round() + 2;
		await().until(() -> round() > next);

		await().until(() -> "weight 7".equals(this.template.opsForValue().get("first:" + (round() - 1))));
		assertRoundsAreComplete();
		await().until(() -> NAMES.stream().allMatch((name) -> toldSince(name, next)));
	}

	@ParameterizedTest
	@ValueSource(strings = { IndexingInstance.PREPARING, IndexingInstance.ENTERING, IndexingInstance.HANDLING,
			IndexingInstance.LEAVING, IndexingInstance.COMPLETING, IndexingInstance.TOLD })
	void killedProcessStopsNobody(String step) {
		long from = round() + 1;
		await().until(() -> stepsFrom(from).stream().anyMatch((each) -> each.endsWith(" " + step)));
		String victim = stepsFrom(from).stream()
			.filter((each) -> each.endsWith(" " + step))
			.reduce((earlier, later) -> later)
			.orElseThrow()
			.split(" ")[0];

		this.processes.get(victim).destroyForcibly();

		long then = round() + 1;
		await().until(() -> round() > then);
		start(victim);
		await().until(() -> completed(round() - 1).endsWith("parties 4") && round() > then + 1);
		assertRoundsAreComplete();
		long last = round() - 1;
		await().until(() -> NAMES.stream().allMatch((name) -> toldSince(name, last)));
	}

	/** Each user was handled exactly once in the attempt that completed its round. */
	private void assertRoundsAreComplete() {
		Set<Object> users = IntStream.range(0, IndexingInstance.USERS)
			.mapToObj(Integer::toString)
			.collect(Collectors.toSet());
		for (long round = 0; round < round(); round++) {
			String attempt = completed(round).split(" ")[1];
			Map<Object, Object> handled = this.template.opsForHash().entries("handled:" + round + ":" + attempt);
			assertThat(handled.keySet()).as("users of round " + round).isEqualTo(users);
			assertThat(handled.values()).as("how often, in round " + round).containsOnly("1");
		}
		assertThat(built()).as("indexes, each built once, under tokens that grow").doesNotHaveDuplicates();
		List<Long> tokens = this.template.opsForList()
			.range("built", 0, -1)
			.stream()
			.map((line) -> Long.parseLong(line.split(" ")[1]))
			.toList();
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
	}

	private List<String> built() {
		return this.template.opsForList().range("built", 0, -1).stream().map((line) -> line.split(" ")[0]).toList();
	}

	private String completed(long round) {
		String value = this.template.opsForValue().get("second:" + round);
		return (value != null) ? value : "";
	}

	private long round() {
		String round = this.template.opsForValue().get("round");
		return (round != null) ? Long.parseLong(round) : 0;
	}

	private List<String> steps() {
		return this.template.opsForList().range("steps", 0, -1);
	}

	private List<String> stepsFrom(long round) {
		return steps().stream().filter((step) -> Long.parseLong(step.split(" ")[1]) >= round).toList();
	}

	/** One that has missed signals is told of the latest only. */
	private boolean toldSince(String name, long round) {
		return stepsFrom(round).stream()
			.anyMatch((step) -> step.startsWith(name + " ") && step.endsWith(" " + IndexingInstance.TOLD));
	}

	private void start(String name) {
		List<String> command = new ArrayList<>(Instances.java(IndexingInstance.class));
		command.addAll(List.of("--spring.main.banner-mode=off", "--shardkeeper.group=indexing",
				"--shardkeeper.instance-id=" + name, "--spring.data.redis.port=" + this.redis.port(),
				"--spring.main.web-application-type=none"));
		try {
			this.processes.put(name,
					new ProcessBuilder(command).redirectErrorStream(true)
						.redirectOutput(Redirect.appendTo(directory.resolve(name + ".log").toFile()))
						.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(50));
	}

}
