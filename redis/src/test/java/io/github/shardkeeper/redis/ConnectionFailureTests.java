package io.github.shardkeeper.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.UUID;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

import io.lettuce.core.codec.StringCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The exception names the reason why there is no connection, whatever the client has
 * wrapped it in: log, health and endpoint show nothing else.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Clear errors")
class ConnectionFailureTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	@AfterEach
	void close() {
		this.connector.stop();
		this.factory.destroy();
	}

	@Test
	void wrongPasswordIsNamed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			RedisStandaloneConfiguration address = address(redis.port());
			address.setPassword("old");
			connect(address, false);
			redis.call((commands) -> commands.configSet("requirepass", "new"));

			assertRefused("WRONGPASS", "spring.data.redis.password");
		}
	}

	@Test
	void missingPasswordIsNamed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(address(redis.port()), false);
			redis.call((commands) -> commands.configSet("requirepass", "new"));

			assertRefused("NOAUTH", "spring.data.redis.password");
		}
	}

	@Test
	void unknownUserIsNamed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			RedisStandaloneConfiguration address = address(redis.port());
			address.setUsername("gone");
			address.setPassword("secret");
			connect(address, false);

			assertRefused("WRONGPASS", "spring.data.redis.username");
		}
	}

	@Test
	void unknownDatabaseIsNamed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			RedisStandaloneConfiguration address = address(redis.port());
			address.setDatabase(99);
			connect(address, false);

			assertRefused("DB index is out of range", "spring.data.redis.database");
		}
	}

	@Test
	void unknownHostIsNamed() {
		connect(new RedisStandaloneConfiguration("no-such-host.invalid", 6379), false);

		assertRefused("unknown host", "no-such-host.invalid", "spring.data.redis.host");
	}

	@Test
	void refusedConnectionIsNamed() {
		EmbeddedRedis redis = EmbeddedRedis.start();
		redis.close();
		connect(address(redis.port()), false);

		assertRefused("Connection refused", String.valueOf(redis.port()));
	}

	@Test
	void serverThatExpectsTlsIsNamed(@TempDir Path directory) {
		SSLContext context = selfSigned(directory);
		try (Server server = new Server((socket) -> handshake(context, socket))) {
			connect(address(server.port()), false);

			assertRefused("spring.data.redis.ssl.enabled");
		}
	}

	@Test
	void serverWithoutTlsIsNamed() {
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			connect(address(redis.port()), true);

			assertRefused("without TLS", "spring.data.redis.ssl.enabled");
		}
	}

	@Test
	void untrustedCertificateIsNamed(@TempDir Path directory) {
		SSLContext context = selfSigned(directory);
		try (Server server = new Server((socket) -> handshake(context, socket))) {
			connect(address(server.port()), true);

			assertRefused("unable to find valid certification path", "spring.data.redis.ssl.bundle");
		}
	}

	@Test
	void closedConnectionIsNamed() {
		try (Server server = new Server((socket) -> {
		})) {
			connect(address(server.port()), false);

			assertRefused("closed");
		}
	}

	/** Links, subscriptions and readers say the same. */
	private void assertRefused(String... words) {
		try (RedisLink<String> link = new RedisLink<>(this.connector, StringCodec.UTF8, TIMEOUT)) {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> link.call((commands) -> commands.clientId()))
				.satisfies((failure) -> assertThat(failure.getMessage()).contains(words));
		}
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> RedisSubscription.open(this.connector, UUID.randomUUID().toString(), TIMEOUT, () -> {
			}))
			.satisfies((failure) -> assertThat(failure.getMessage()).contains(words));
	}

	private void connect(RedisStandaloneConfiguration address, boolean tls) {
		LettuceClientConfiguration.LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
		if (tls) {
			client.useSsl();
		}
		this.factory = new LettuceConnectionFactory(address, client.build());
		this.factory.afterPropertiesSet();
		this.connector = new RedisConnector(this.factory);
	}

	private static RedisStandaloneConfiguration address(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	private static void handshake(SSLContext context, Socket socket) throws IOException {
		SSLSocket secured = (SSLSocket) context.getSocketFactory()
			.createSocket(socket, "localhost", socket.getPort(), true);
		secured.setUseClientMode(false);
		secured.startHandshake();
		secured.getInputStream().read();
	}

	private static SSLContext selfSigned(Path directory) {
		Path file = directory.resolve("server.p12");
		try {
			Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
					"-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=localhost", "-storetype",
					"PKCS12", "-keystore", file.toString(), "-storepass", "secret")
				.inheritIO()
				.start();
			assertThat(keytool.waitFor()).isZero();
			KeyStore keys = KeyStore.getInstance("PKCS12");
			keys.load(Files.newInputStream(file), "secret".toCharArray());
			KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
			managers.init(keys, "secret".toCharArray());
			SSLContext context = SSLContext.getInstance("TLS");
			context.init(managers.getKeyManagers(), null, null);
			return context;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (GeneralSecurityException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Accepts connections, does something with each, and closes it. */
	private static final class Server implements AutoCloseable {

		private final ServerSocket socket;

		Server(Conversation conversation) {
			try {
				this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			Thread thread = new Thread(() -> serve(conversation), "test-server");
			thread.setDaemon(true);
			thread.start();
		}

		int port() {
			return this.socket.getLocalPort();
		}

		private void serve(Conversation conversation) {
			while (!this.socket.isClosed()) {
				try (Socket client = this.socket.accept()) {
					conversation.hold(client);
				}
				catch (IOException ex) {
					// A handshake that failed is what some of these tests want.
				}
			}
		}

		@Override
		public void close() {
			try {
				this.socket.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	/** Reaction of a server to a connection. */
	private interface Conversation {

		void hold(Socket client) throws IOException;

	}

}
