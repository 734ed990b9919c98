package com.example;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications with the source of the guide.
 */
class DirectoryApplicationTests {

	@TempDir
	private Path root;

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.consumer.commit.mode=batch");

	@BeforeEach
	void createFiles() {
		for (String shard : Set.of("berlin", "oslo", "paris", "rome")) {
			write(shard, 0);
		}
	}

	@Test
	@Tag("proof")
	void everyLineIsCountedOnceWhenInstancesComeAndGo() {
		ConfigurableApplicationContext one = start("one");
		write("berlin", 100);
		ConfigurableApplicationContext two = start("two");
		write("berlin", 50);
		write("oslo", 70);
		awaitCounts(one, Map.of("berlin", 150L, "oslo", 70L));
		write("paris", 2000);
		two.close();
		write("rome", 30);
		write("berlin", 50);

		awaitCounts(one, Map.of("berlin", 200L, "oslo", 70L, "paris", 2000L, "rome", 30L));
	}

	@Test
	void newFileIsConsumed() {
		ConfigurableApplicationContext one = start("one");
		write("madrid", 40);

		awaitCounts(one, Map.of("madrid", 40L));
	}

	@Test
	void directoryMayComeLater() throws IOException {
		Path moved = Files.move(this.root.resolve("lines"), this.root.resolve("moved"));
		ConfigurableApplicationContext one = start("one");
		await().untilAsserted(() -> assertThat(health(one)).contains("The shards of 'lines' cannot be listed"));
		Files.move(moved, this.root.resolve("lines"));
		write("oslo", 10);

		awaitCounts(one, Map.of("oslo", 10L));
		await().until(() -> status(one).equals(Status.UP));
	}

	@Test
	@Tag("proof")
	void shortenedFileIsReportedUntilItsShardIsSetBack() throws IOException {
		ConfigurableApplicationContext one = start("one");
		write("oslo", 100);
		awaitCounts(one, Map.of("oslo", 100L));
		Files.write(this.root.resolve("lines/oslo"), new byte[0]);
		write("oslo", 10);

		await().untilAsserted(
				() -> assertThat(health(one)).contains("but byte").contains("was read: restore the file, or seek"));
		write("rome", 20);
		awaitCounts(one, Map.of("rome", 20L));
		one.getBean(ShardPositions.class).seek(new ShardId("lines", "oslo"), StartPosition.EARLIEST);
		awaitCounts(one, Map.of("oslo", 110L));
		await().until(() -> status(one).equals(Status.UP));
	}

	private ConfigurableApplicationContext start(String instance) {
		return this.group.start(LinesApplication.class, instance, "lines.directory=" + this.root);
	}

	private void write(String shard, int lines) {
		try {
			Path file = this.root.resolve("lines").resolve(shard);
			Files.createDirectories(file.getParent());
			Files.writeString(file, "a line\n".repeat(lines), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void awaitCounts(ConfigurableApplicationContext instance, Map<String, Long> expected) {
		ShardStateReader states = instance.getBean(ShardStateReader.class);
		// Its file is a shard once the directory has been listed.
		await().ignoreExceptionsInstanceOf(RuntimeException.class).untilAsserted(() -> {
			Map<String, Long> counts = new TreeMap<>();
			for (String shard : expected.keySet()) {
				counts.putAll(states.read(new ShardId("lines", shard), Long.class));
			}
			assertThat(counts).isEqualTo(expected);
		});
	}

	private static String health(ConfigurableApplicationContext instance) {
		return instance.getBean("shardkeeperHealthIndicator", HealthIndicator.class)
			.health(true)
			.getDetails()
			.toString();
	}

	private static Status status(ConfigurableApplicationContext instance) {
		return instance.getBean("shardkeeperHealthIndicator", HealthIndicator.class).health(true).getStatus();
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class LinesApplication {

		@Bean
		DirectorySource files(@Value("${lines.directory}") Path directory) {
			return new DirectorySource(directory, Set.of("lines"));
		}

		@ShardConsumer("lines")
		void count(String line, ShardContext context, ShardState state) {
			state.increment(context.shard().id(), 1);
		}

	}

}
