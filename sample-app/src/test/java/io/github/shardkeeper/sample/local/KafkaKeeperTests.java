package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import io.github.shardkeeper.sample.FreePorts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Starts keepers, each with a Kafka, in processes of their own. */
@DisabledOnOs(OS.WINDOWS)
@Tag("proof")
class KafkaKeeperTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final int port = FreePorts.next();

	@Test
	void instancesThatStartAtOnceShareOneKafkaThatEndsWithTheLastOne() throws Exception {
		List<CompletableFuture<LocalKafka>> starts = Stream.generate(() -> CompletableFuture.supplyAsync(this::start))
			.limit(2)
			.toList();
		List<LocalKafka> instances = starts.stream().map(CompletableFuture::join).toList();
		Path data = data();
		assertThat(data).isDirectory();

		instances.get(0).disconnect();
		// The keeper looks every second, and gives up after five.
		await().during(Duration.ofSeconds(7)).atMost(PATIENCE).until(() -> !FreePorts.isFree(this.port));
		assertThat(data).isDirectory();

		instances.get(1).disconnect();
		await().atMost(PATIENCE).until(() -> FreePorts.isFree(this.port) && Files.notExists(data));
	}

	@Test
	void kafkaThatDoesNotStartSaysWhy() throws IOException {
		try (Socket bound = new Socket()) {
			bound.bind(new InetSocketAddress("127.0.0.1", this.port));
			assertThat(KafkaKeeper.start(this.port)).contains("Address already in use");
		}
	}

	private LocalKafka start() {
		MockEnvironment environment = new MockEnvironment()
			.withProperty("sample.kafka.port", Integer.toString(this.port))
			.withProperty("shardkeeper.topics.visits.source", "kafka")
			.withProperty("sample.kafka.partitions", "3");
		LocalKafka kafka = new LocalKafka();
		kafka.onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], environment));
		assertThat(environment.getProperty("spring.kafka.bootstrap-servers")).isEqualTo("127.0.0.1:" + this.port);
		return kafka;
	}

	private Path data() throws Exception {
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + this.port))) {
			assertThat(admin.describeTopics(List.of("visits")).allTopicNames().get().get("visits").partitions())
				.hasSize(3);
			return Path.of(admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).keySet().iterator().next());
		}
	}

}
