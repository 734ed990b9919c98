package io.github.shardkeeper.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class EmbeddedRedisTests {

	@Test
	void answersOnceStarted() throws IOException {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			assertThat(ask(redis, "PING")).isEqualTo("+PONG");
			assertThat(redis.isRunning()).isTrue();
		}
	}

	@Test
	void takesArguments() throws IOException {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--requirepass", "secret")) {
			assertThat(ask(redis, "PING")).startsWith("-NOAUTH");
			assertThat(ask(redis, "AUTH secret")).isEqualTo("+OK");
		}
	}

	@Test
	void comesBackEmptyOnTheSamePort() throws IOException {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			int port = redis.port();
			assertThat(ask(redis, "SET a 1")).isEqualTo("+OK");
			redis.kill();
			assertThat(redis.isRunning()).isFalse();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> ask(redis, "PING"));

			redis.restart();
			assertThat(redis.port()).isEqualTo(port);
			assertThat(ask(redis, "EXISTS a")).isEqualTo(":0");

			redis.stop();
			redis.restart();
			assertThat(ask(redis, "PING")).isEqualTo("+PONG");
		}
	}

	@Test
	void comesBackWithItsDataIfItsArgumentsSaySo(@TempDir Path directory) throws IOException {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir",
				directory.toString())) {
			assertThat(ask(redis, "INCR a")).isEqualTo(":1");
			redis.kill();
			redis.restart();
			assertThat(ask(redis, "INCR a")).isEqualTo(":2");
		}
	}

	@Test
	void serversThatKeepTheirDataDoNotShareIt() throws IOException {
		try (EmbeddedRedis one = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no")) {
			assertThat(ask(one, "INCR a")).isEqualTo(":1");
			try (EmbeddedRedis two = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no")) {
				assertThat(ask(two, "EXISTS a")).isEqualTo(":0");
				assertThat(ask(two, "INCR b")).isEqualTo(":1");
			}
			one.kill();
			one.restart();
			assertThat(ask(one, "INCR a")).isEqualTo(":2");
			assertThat(ask(one, "EXISTS b")).isEqualTo(":0");
		}
	}

	@Test
	void sharedRedisIsOneServer() throws IOException {
		assertThat(EmbeddedRedis.shared()).isSameAs(EmbeddedRedis.shared());
		assertThat(ask(EmbeddedRedis.shared(), "PING")).isEqualTo("+PONG");
	}

	@Test
	void failedStartIsExplained() {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> EmbeddedRedis.start("--no-such-option", "1"))
			.withMessageContaining("no-such-option");
	}

	private static String ask(EmbeddedRedis redis, String command) throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), redis.port());
				BufferedReader reply = new BufferedReader(
						new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
			socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
			return reply.readLine();
		}
	}

}
