package io.github.shardkeeper.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplicationAotProcessor;

import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.AheadOfTime;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties that select beans, in an application that is processed ahead of time and run
 * as a process of its own.
 */
@Tag("proof")
@Promise("Clear errors")
class BuildTimeSettingsTests {

	private static final String RUN = UUID.randomUUID().toString();

	@TempDir
	private static Path builds;

	private static int numberOfBuilds;

	/** With the defaults, by the first test that needs it. */
	private static Path enabled;

	@Test
	void startsWithTheValuesOfTheBuild() throws Exception {
		Path build = enabled();

		assertThat(run(build)).contains("Handled hello", "Started with [RedisCoordinationStore]");
		assertThat(run(build, "--shardkeeper.store=REDIS", "--shardkeeper.enabled=true")).contains("Handled hello");
	}

	@Test
	void otherValueThanAtBuildTimeFailsStartup() throws Exception {
		Path build = enabled();

		assertThat(run(build, "--shardkeeper.store=memory")).doesNotContain("Handled", "Started with")
			.contains("APPLICATION FAILED TO START",
					"'shardkeeper.store' is 'memory', but this application was processed ahead of time (AOT) with 'redis'",
					"Build the application with 'shardkeeper.store: memory', or start it with 'redis'.");
		assertThat(run(build, "--shardkeeper.enabled=false")).doesNotContain("Handled", "Started with")
			.contains("'shardkeeper.enabled' is 'false'", "(AOT) with 'true'");
		assertThat(run(build, "--shardkeeper.topics.orders.consumer.transaction=jdbc"))
			.doesNotContain("Handled", "Started with")
			.contains("'shardkeeper.topics.*.consumer.transaction' is 'jdbc'", "(AOT) with 'none'");
	}

	@Test
	void applicationBuiltWithoutShardkeeperCannotEnableIt() throws Exception {
		Path build = process("--shardkeeper.enabled=false");

		assertThat(run(build, "--shardkeeper.enabled=false")).contains("Started with []");
		assertThat(run(build, "--spring.main.lazy-initialization=true")).doesNotContain("Started with")
			.contains("'shardkeeper.enabled' is 'true'", "(AOT) with 'false'");
	}

	private static Path enabled() throws Exception {
		if (enabled == null) {
			enabled = process();
		}
		return enabled;
	}

	/** Generates the sources, compiles them, and returns their directory. */
	private static Path process(String... more) throws Exception {
		Path directory = Files.createDirectory(builds.resolve(Integer.toString(++numberOfBuilds)));
		Path classes = directory.resolve("classes");
		List<String> arguments = new ArrayList<>(
				List.of(AheadOfTimeApplication.class.getName(), directory.resolve("sources").toString(),
						directory.resolve("resources").toString(), classes.toString(), "test", "test"));
		arguments.addAll(arguments(more));
		SpringApplicationAotProcessor.main(arguments.toArray(String[]::new));
		AheadOfTime.compile(directory.resolve("sources"), classes, System.getProperty("java.class.path"));
		return classes;
	}

	private static List<String> arguments(String... more) {
		List<String> arguments = new ArrayList<>(List.of("--spring.main.web-application-type=none",
				"--spring.main.banner-mode=off", "--shardkeeper.group=" + RUN, "--shardkeeper.key-prefix=" + RUN,
				"--shardkeeper.topics.orders.shards=2", "--shardkeeper.session.heartbeat-interval=200ms",
				"--shardkeeper.session.lease=600ms", "--spring.data.redis.port=" + EmbeddedRedis.shared().port()));
		arguments.addAll(List.of(more));
		return arguments;
	}

	/** Returns the output of the process after its end. */
	private static String run(Path classes, String... more) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Dspring.aot.enabled=true",
				"-XX:TieredStopAtLevel=1", "-cp", classes + File.pathSeparator + System.getProperty("java.class.path"),
				AheadOfTimeApplication.class.getName()));
		command.addAll(arguments(more));
		Path log = Files.createTempFile(builds, "run", ".log");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
		try {
			assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		return Files.readString(log);
	}

}
