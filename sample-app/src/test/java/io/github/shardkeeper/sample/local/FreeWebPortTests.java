package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.ServerSocket;

import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FreeWebPortTests {

	@Test
	void twoInstancesGetDifferentPorts() throws IOException {
		try (ServerSocket one = FreeWebPort.reserve(28080, 28099);
				ServerSocket other = FreeWebPort.reserve(28080, 28099)) {
			assertThat(one.getLocalPort()).isNotEqualTo(other.getLocalPort());
		}
	}

	@Test
	void noFreePortFailsStartupWithAMessage() throws IOException {
		try (ServerSocket taken = new ServerSocket(0)) {
			assertThatExceptionOfType(ShardkeeperConfigurationException.class)
				.isThrownBy(() -> FreeWebPort.reserve(taken.getLocalPort(), taken.getLocalPort()))
				.withMessageContaining("--server.port");
		}
	}

	@Test
	void chosenPortIsLeftAlone() {
		MockEnvironment environment = new MockEnvironment().withProperty("server.port", "0");
		new FreeWebPort().onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], environment));
		assertThat(environment.getProperty("server.port")).isEqualTo("0");
	}

}
