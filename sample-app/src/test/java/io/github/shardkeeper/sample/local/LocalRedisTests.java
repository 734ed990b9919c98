package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LocalRedisTests {

	private final MockEnvironment environment = new MockEnvironment();

	@ParameterizedTest
	@CsvSource({ "url,redis://example.org", "host,example.org", "port,7000", "sentinel.nodes,example.org:26379",
			"cluster.nodes,example.org:7000" })
	void configuredRedisIsLeftAlone(String name, String value) {
		this.environment.setProperty("spring.data.redis." + name, value);
		prepare();
		assertThat(this.environment.getPropertySources().contains("sampleRedis")).isFalse();
	}

	@Test
	void redisThatListensIsUsed() throws IOException {
		try (Answering server = new Answering("+PONG\r\n")) {
			this.environment.setProperty("spring.data.redis.port", "1");
			this.environment.setProperty("sample.redis.port", Integer.toString(server.port()));
			prepare();
			assertThat(this.environment.getProperty("spring.data.redis.port", Integer.class)).isEqualTo(server.port());
			assertThat(this.environment.getProperty("spring.data.redis.host")).isEqualTo("127.0.0.1");
		}
	}

	@ParameterizedTest
	@CsvSource({ "HTTP/1.1 400 Bad Request,is not a Redis", "-NOAUTH Authentication required.,requires authentication",
			"-DENIED Redis is running in protected mode,requires authentication" })
	void anythingElseFailsStartupWithAMessage(String reply, String message) throws IOException {
		try (Answering server = new Answering(reply + "\r\n")) {
			this.environment.setProperty("sample.redis.port", Integer.toString(server.port()));
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(this::prepare)
				.withMessageContaining("port " + server.port())
				.withMessageContaining(message)
				.withMessageContaining("--spring.data.redis.url=");
		}
	}

	private void prepare() {
		new LocalRedis().onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], this.environment));
	}

	/** Gives each client the same reply. */
	private static final class Answering implements AutoCloseable {

		private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

		private final Thread thread = new Thread(this::reply);

		private final byte[] reply;

		private Answering(String reply) throws IOException {
			this.reply = reply.getBytes(StandardCharsets.US_ASCII);
			this.thread.start();
		}

		private void reply() {
			try (Socket client = this.socket.accept()) {
				client.getOutputStream().write(this.reply);
				client.getInputStream().transferTo(OutputStream.nullOutputStream());
			}
			catch (IOException ex) {
				// The test is over.
			}
		}

		private int port() {
			return this.socket.getLocalPort();
		}

		@Override
		public void close() throws IOException {
			this.socket.close();
		}

	}

}
