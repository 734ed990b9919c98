package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis with TLS, by the SSL bundles of Spring Boot: applications consume over it, and
 * what is wrong with a certificate is named in log and health. Skipped on a Redis that
 * was built without TLS.
 */
@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
class TlsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final ShardId SHARD = ShardId.of("visits", 0);

	@TempDir
	private static Path directory;

	private final List<AutoCloseable> closed = new ArrayList<>();

	@BeforeAll
	static void createCertificates() throws Exception {
		for (String ca : List.of("ca", "other-ca")) {
			keytool(ca, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + ca, "-ext", "bc:c", "-validity", "7");
			export(ca);
		}
		certificate("server", "-ext", "san=dns:localhost,ip:127.0.0.1", "-validity", "7");
		certificate("elsewhere", "-ext", "san=dns:elsewhere.invalid", "-validity", "7");
		certificate("expired", "-ext", "san=dns:localhost,ip:127.0.0.1", "-startdate", "-3d", "-validity", "1");
		certificate("client", "-validity", "7");
	}

	/** A key pair whose certificate the CA has signed, as PEM files. */
	private static void certificate(String name, String... signing) throws Exception {
		keytool(name, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name);
		keytool(name, "-certreq", "-file", file(name + ".csr"));
		keytool("ca", Stream
			.concat(Stream.of("-gencert", "-rfc", "-infile", file(name + ".csr"), "-outfile", file(name + ".crt")),
					Stream.of(signing))
			.toArray(String[]::new));
		export(name);
	}

	private static void export(String name) throws Exception {
		run("openssl", "pkcs12", "-in", file(name + ".p12"), "-passin", "pass:secret", "-nodes", "-nocerts", "-out",
				file(name + ".key"));
		if (!Files.exists(Path.of(file(name + ".crt")))) {
			keytool(name, "-exportcert", "-rfc", "-file", file(name + ".crt"));
		}
	}

	private static void keytool(String store, String... arguments) throws Exception {
		run(Stream
			.concat(Stream.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), arguments[0],
					"-alias", store, "-storetype", "PKCS12", "-keystore", file(store + ".p12"), "-storepass", "secret"),
					Stream.of(arguments).skip(1))
			.toArray(String[]::new));
	}

	private static String file(String name) {
		return directory.resolve(name).toString();
	}

	private static void run(String... command) throws Exception {
		Process process;
		try {
			process = new ProcessBuilder(command).redirectErrorStream(true).start();
		}
		catch (IOException ex) {
			Assumptions.abort("There is no " + command[0] + ", which writes keys as files: " + ex.getMessage());
			return;
		}
		String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).as(output).isZero();
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.closed) {
			each.close();
		}
	}

	@Test
	void applicationConsumesOverTls() {
		ConfigurableApplicationContext instance = start("server", "ca", false);

		assertConsumes(instance);
	}

	@Test
	void applicationShowsItsOwnCertificate() {
		ConfigurableApplicationContext instance = start("server", "ca", true,
				"spring.ssl.bundle.pem.redis.keystore.certificate=file:" + file("client.crt"),
				"spring.ssl.bundle.pem.redis.keystore.private-key=file:" + file("client.key"));

		assertConsumes(instance);
	}

	@Test
	void missingCertificateOfTheClientIsNamed(CapturedOutput output) {
		ConfigurableApplicationContext instance = start("server", "ca", true);

		assertSaid(instance, output, "spring.data.redis.ssl.bundle");
	}

	@Test
	void certificateOfAnotherCaIsNamed(CapturedOutput output) {
		ConfigurableApplicationContext instance = start("server", "other-ca", false);

		assertSaid(instance, output, "have the client trust the server's CA: 'spring.data.redis.ssl.bundle'");
	}

	@Test
	void certificateOfAnotherHostIsNamed(CapturedOutput output) {
		ConfigurableApplicationContext instance = start("elsewhere", "ca", false);

		assertSaid(instance, output, "the server's certificate is for another host: check 'spring.data.redis.host'");
	}

	@Test
	void expiredCertificateIsNamed(CapturedOutput output) {
		ConfigurableApplicationContext instance = start("expired", "ca", false);

		assertSaid(instance, output, "the server's certificate has expired");
	}

	private ConfigurableApplicationContext start(String server, String trusted, boolean mutual, String... properties) {
		int port = startRedis(server, mutual);
		EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=1",
				"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port,
				"spring.data.redis.ssl.bundle=redis",
				"spring.ssl.bundle.pem.redis.truststore.certificate=file:" + file(trusted + ".crt"),
				"shardkeeper.session.lease=1s", "shardkeeper.session.heartbeat-interval=100ms",
				"shardkeeper.session.timeout=3s", "management.health.shardkeeper.outage-tolerance=0s");
		this.closed.add(0, group);
		return group.start(Application.class, "one", properties);
	}

	/** Returns the port for TLS. */
	private int startRedis(String certificate, boolean mutual) {
		int port = freePort();
		try {
			this.closed.add(EmbeddedRedis.start("--tls-port", String.valueOf(port), "--tls-cert-file",
					file(certificate + ".crt"), "--tls-key-file", file(certificate + ".key"), "--tls-ca-cert-file",
					file("ca.crt"), "--tls-auth-clients", mutual ? "yes" : "no"));
			return port;
		}
		catch (RuntimeException ex) {
			Assumptions.assumeFalse(String.valueOf(ex.getMessage()).contains("Bad directive"),
					"This Redis was built without TLS");
			throw ex;
		}
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void assertConsumes(ConfigurableApplicationContext instance) {
		Awaitility.await().atMost(PATIENCE).until(() -> health(instance).getStatus(), Status.UP::equals);

		instance.getBean(ShardTemplate.class).send("visits", "ann", "/");

		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(instance.getBean(ShardStateReader.class).read(SHARD, Long.class))
				.containsEntry("/", 1L));
	}

	private static void assertSaid(ConfigurableApplicationContext instance, CapturedOutput output, String words) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(instance).getDetails().get("reason")).asString().contains(words);
		});
		assertThat(output.getOut()).contains(words).doesNotContain("\tat ");
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload, ShardState state) {
			state.increment(payload, 1);
		}

	}

}
