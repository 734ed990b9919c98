package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/** A lock that processes share, at default settings, on a real Redis. */
@Tag("proof")
class LocksOfProcessesTests {

	/** Of each process. */
	private static final int INCREMENTS = 400;

	@TempDir
	private Path directory;

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private StringRedisTemplate template;

	private final Map<String, Process> processes = new TreeMap<>();

	@BeforeEach
	void start() {
		this.redis = EmbeddedRedis.start();
		this.connections = new LettuceConnectionFactory("localhost", this.redis.port());
		this.connections.afterPropertiesSet();
		this.connections.start();
		this.template = new StringRedisTemplate(this.connections);
	}

	@AfterEach
	void stop() throws InterruptedException {
		for (Process process : this.processes.values()) {
			process.destroyForcibly();
			assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
		}
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void noIncrementOfFourProcessesIsLost() {
		List<String> names = List.of("one", "two", "three", "four");
		names.forEach((name) -> start(name, "--count.times=" + INCREMENTS));

		await().until(() -> size("done") == names.size());

		int all = names.size() * INCREMENTS;
		assertThat(this.template.opsForValue().get("counter")).isEqualTo(Integer.toString(all));
		assertThat(size("accepted")).isEqualTo(all);
		assertThat(tokens()).isSorted().doesNotHaveDuplicates();
		assertThat(size("refused")).isZero();
	}

	@Test
	void killedHolderIsReplacedAfterItsLease() {
		start("one", "--count.times=1000000", "--count.work=50ms");
		await().until(() -> size("accepted") > 10);
		start("two", "--count.times=1000000", "--count.work=50ms");
		await().until(() -> hasAccepted("two", 0));
		await().until(() -> isInside("one"));

		this.processes.get("one").destroyForcibly();

		long then = size("accepted");
		await().until(() -> hasAccepted("two", then + 1));
		assertThat(size("refused")).isZero();
	}

	@Test
	void writeOfAFrozenHolderIsRefused() throws Exception {
		start("one", "--count.times=1000000", "--count.work=300ms", "--shardkeeper.session.timeout=4s");
		start("two", "--count.times=1000000", "--count.work=300ms");
		await().until(() -> hasAccepted("one", 0) && hasAccepted("two", 0));
		while (true) {
			await().until(() -> isInside("one"));
			signal("STOP");
			// The second reply comes after all that it had sent.
			if (isInside("one") && isInside("one")) {
				break;
			}
			signal("CONT");
		}
		long then = size("accepted");
		await().until(() -> hasAccepted("two", then + 1));

		signal("CONT");

		await().until(() -> size("refused") > 0);
		assertThat(this.template.opsForList().range("refused", 0, -1)).singleElement().asString().startsWith("one ");
		long resumed = size("accepted");
		await().until(() -> hasAccepted("one", resumed));
		assertThat(tokens()).isSorted().doesNotHaveDuplicates();
	}

	private boolean isInside(String name) {
		return name.equals(this.template.opsForValue().get("inside"));
	}

	private void signal(String signal) throws Exception {
		long pid = this.processes.get("one").pid();
		assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor()).isZero();
	}

	private boolean hasAccepted(String name, long from) {
		return this.template.opsForList()
			.range("accepted", from, -1)
			.stream()
			.anyMatch((line) -> line.startsWith(name + " "));
	}

	private long size(String list) {
		Long size = this.template.opsForList().size(list);
		return (size != null) ? size : 0;
	}

	private List<Long> tokens() {
		return this.template.opsForList()
			.range("accepted", 0, -1)
			.stream()
			.map((line) -> Long.parseLong(line.split(" ")[1]))
			.toList();
	}

	private void start(String name, String... arguments) {
		List<String> command = new ArrayList<>(Instances.java(CountingInstance.class));
		command.addAll(List.of("--spring.main.banner-mode=off", "--shardkeeper.group=counting",
				"--shardkeeper.instance-id=" + name, "--spring.data.redis.port=" + this.redis.port()));
		command.addAll(List.of(arguments));
		try {
			this.processes.put(name,
					new ProcessBuilder(command).redirectErrorStream(true)
						.redirectOutput(Redirect.appendTo(this.directory.resolve(name + ".log").toFile()))
						.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofMinutes(5)).pollInterval(Duration.ofMillis(20));
	}

}
