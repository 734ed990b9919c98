package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LocalKafkaTests {

	private final MockEnvironment environment = new MockEnvironment().withProperty("sample.kafka.partitions", "4");

	@Test
	void anotherSourceNeedsNoKafka() {
		this.environment.setProperty("sample.kafka.port", "1");
		prepare();
		assertThat(this.environment.getPropertySources().contains("sampleKafka")).isFalse();
	}

	@Test
	void configuredKafkaIsLeftAlone() {
		this.environment.setProperty("shardkeeper.topics.visits.source", "kafka");
		this.environment.setProperty("spring.kafka.bootstrap-servers", "example.org:9092");
		prepare();
		assertThat(this.environment.getPropertySources().contains("sampleKafka")).isFalse();
	}

	@Test
	void anythingElseThatListensFailsStartupWithAMessage() throws IOException {
		try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
			this.environment.setProperty("shardkeeper.topics.visits.source", "kafka");
			this.environment.setProperty("sample.kafka.port", Integer.toString(silent.getLocalPort()));
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(this::prepare)
				.withMessageContaining("port " + silent.getLocalPort())
				.withMessageContaining("--spring.kafka.bootstrap-servers=");
		}
	}

	private void prepare() {
		new LocalKafka(500).onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], this.environment));
	}

}
