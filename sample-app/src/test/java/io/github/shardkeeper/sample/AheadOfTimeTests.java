package io.github.shardkeeper.sample;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

/**
 * The sample, processed ahead of time as for a native image, on a JVM: what its beans are
 * is known from the generated code only.
 */
@DisabledOnOs(OS.WINDOWS)
@Tag("proof")
class AheadOfTimeTests {

	private static final Duration PATIENCE = Duration.ofMinutes(4);

	private static final int LINES = 400;

	/** Exit status of a process that has ended by SIGTERM, after its shutdown hooks. */
	private static final int TERMINATED = 143;

	/** Its own: the progress of the feed has the same key in each run. */
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@TempDir
	private Path directory;

	private SampleInstance instance;

	@AfterEach
	void stopAll() throws InterruptedException {
		if (this.instance != null) {
			this.instance.kill();
		}
		this.redis.stop();
	}

	/** A lazy handler is never asked for by another bean. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void processedHandlersCountAndStop(boolean lazy) throws Exception {
		List<String> options = List.of("--spring.main.lazy-initialization=" + lazy,
				"--spring.main.log-startup-info=true", "--spring.data.redis.port=" + this.redis.port(),
				"--sample.lines-limit=" + LINES, "--sample.lines-per-second=" + LINES);
		this.instance = SampleInstance.processedAheadOfTime(this.directory, options);

		awaitThat(() -> this.instance.countedLines() >= LINES);
		assertThat(this.instance.counts()).isEqualTo(SampleApplicationTests.expectedCounts(LINES));
		JsonNode group = this.instance.group();
		assertThat(group.path("shards")).hasSize(4)
			.allSatisfy((shard) -> assertThat(shard.path("owner")).isEqualTo(group.path("self")));
		assertThat(this.instance.text("/actuator/sharddashboard")).contains("<html");

		assertThat(this.instance.terminate()).isEqualTo(TERMINATED);
		List<String> output = this.instance.output();
		assertThat(output).anyMatch((line) -> line.contains("Starting AOT-processed SampleApplication"));
		assertThat(output).filteredOn((line) -> line.contains(" WARN ") || line.contains(" ERROR "))
			.singleElement(as(STRING))
			.contains("'shardkeeper.redis.trust-empty' is true");
		assertThat(output).filteredOn((line) -> line.contains(" revoked from ")).hasSize(4);
	}

	/** Retries while the instance does not reply yet. */
	private void awaitThat(Callable<Boolean> condition) {
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(IOException.class).until(() -> {
			assertThat(this.instance.isAlive()).isTrue();
			return condition.call();
		});
	}

}
