package io.github.shardkeeper.endtoend;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A password in each place where Spring Boot or Shardkeeper takes one, while what it is
 * for fails: it is in no log at DEBUG, no health, no endpoint, no exception and no
 * {@code toString()}.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
class SecretsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** As it has no blank and no quote, it is the same wherever it is quoted. */
	private static final String SECRET = "s3cr3t-XyZ-0815";

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.github.shardkeeper");

	private static final JsonMapper JSON = JsonMapper.builder().build();

	private @Nullable ConfigurableApplicationContext instance;

	private final StringBuilder seen = new StringBuilder();

	@BeforeEach
	void logEverything() {
		LOGGER.setLevel(Level.DEBUG);
	}

	@AfterEach
	void close() {
		LOGGER.setLevel(null);
		if (this.instance != null) {
			this.instance.close();
		}
	}

	@Test
	void passwordThatRedisRefusesAtTheStart(CapturedOutput output) {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--requirepass", "another")) {
			start("spring.data.redis.port=" + redis.port(), "spring.data.redis.password=" + SECRET);

			assertThat(this.seen).contains("WRONGPASS");
			assertHidden(output);
		}
	}

	@Test
	void passwordThatRedisRefusesLater(CapturedOutput output) {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--requirepass", SECRET)) {
			start("spring.data.redis.url=redis://default:%s@127.0.0.1:%d".formatted(SECRET, redis.port()));
			Awaitility.await().atMost(PATIENCE).until(() -> health().contains("\"status\":\"UP\""));
			redis.stop();

			Awaitility.await().atMost(PATIENCE).until(() -> health().contains("The lease is not held"));
			assertHidden(output);
		}
	}

	/** Each with the text that shows that it was tried. */
	@ParameterizedTest
	@MethodSource("unreachable")
	void credentialsOfWhatCannotBeReached(List<String> properties, String expected, CapturedOutput output) {
		start(properties.toArray(String[]::new));

		Awaitility.await().atMost(PATIENCE).until(() -> look() + output.getAll(), (all) -> all.contains(expected));
		assertHidden(output);
	}

	private static Stream<Arguments> unreachable() {
		String password = "=" + SECRET;
		return Stream.of(
				Arguments.of(List.of("spring.data.redis.url=redis://visits:" + SECRET + "@127.0.0.1:1"),
						"Connection refused"),
				Arguments.of(List.of("spring.data.redis.port=1", "spring.data.redis.username=visits",
						"spring.data.redis.password" + password), "Connection refused"),
				Arguments.of(List.of("spring.data.redis.sentinel.nodes=127.0.0.1:1",
						"spring.data.redis.sentinel.master=m", "spring.data.redis.sentinel.username=sentinel",
						"spring.data.redis.sentinel.password" + password, "spring.data.redis.password" + password),
						"Sentinel"),
				Arguments.of(
						List.of("spring.data.redis.cluster.nodes=127.0.0.1:1", "spring.data.redis.password" + password),
						"127.0.0.1"),
				Arguments.of(List.of("shardkeeper.store=memory", "shardkeeper.topics.visits.source=kafka",
						"spring.kafka.bootstrap-servers=127.0.0.1:1", "spring.kafka.security.protocol=SASL_PLAINTEXT",
						"spring.kafka.properties.sasl.mechanism=PLAIN",
						"spring.kafka.properties.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule "
								+ "required username=\"visits\" password=\"" + SECRET + "\";"),
						"Kafka"),
				Arguments.of(List.of("shardkeeper.store=memory", "shardkeeper.topics.visits.source=sls",
						"shardkeeper.sls.endpoint=http://no-such-host.invalid", "shardkeeper.sls.project=project",
						"shardkeeper.sls.access-key-id=LTAIkey", "shardkeeper.sls.access-key-secret" + password,
						"shardkeeper.sls.security-token" + password), "SLS at"));
	}

	/** Each ends the start. */
	@ParameterizedTest
	@MethodSource("wrong")
	void credentialsBesideWrongSettings(List<String> properties, CapturedOutput output) {
		start(properties.toArray(String[]::new));

		assertThat(this.instance).as("application").isNull();
		assertThat(output.getAll()).contains("shardkeeper.");
		assertHidden(output);
	}

	private static Stream<List<String>> wrong() {
		List<String> sls = List.of("shardkeeper.store=memory", "shardkeeper.topics.visits.source=sls",
				"shardkeeper.sls.project=project", "shardkeeper.sls.access-key-id=LTAIkey",
				"shardkeeper.sls.access-key-secret=" + SECRET);
		return Stream.of("shardkeeper.sls.endpoint=https://LTAIkey:%s@cn-hangzhou.log.aliyuncs.com",
				"shardkeeper.sls.proxy=http://user:%s@proxy:80", "shardkeeper.sls.threads=0",
				"shardkeeper.sls.access-key-secrets=%s", "shardkeeper.sls.region.secret=%s", "shardkeeper.password=%s")
			.map((property) -> Stream
				.concat(sls.stream(),
						Stream.of("shardkeeper.sls.endpoint=http://no-such-host.invalid", property.formatted(SECRET)))
				.toList());
	}

	@Test
	void passwordsOfAnSslBundle(@TempDir Path directory, CapturedOutput output) throws Exception {
		Path store = directory.resolve("client.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "client", "-keyalg", "EC", "-dname", "CN=client", "-storetype", "PKCS12",
				"-keystore", store.toString(), "-storepass", SECRET)
			.redirectErrorStream(true)
			.start();
		assertThat(keytool.waitFor()).isZero();
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			String bundle = "spring.ssl.bundle.jks.redis.";
			start("spring.data.redis.port=" + redis.port(), "spring.data.redis.ssl.bundle=redis",
					bundle + "keystore.location=file:" + store, bundle + "keystore.password=" + SECRET,
					bundle + "key.password=" + SECRET, bundle + "truststore.location=file:" + store,
					bundle + "truststore.password=" + SECRET);

			Awaitility.await().atMost(PATIENCE).until(() -> health().contains("without TLS"));
			assertHidden(output);
		}
	}

	/** Starts an application whose records are sent to the topic that cannot be used. */
	private void start(String... properties) {
		try {
			this.instance = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.registerShutdownHook(false)
				.run(Stream
					.of(Stream.of("shardkeeper.group=secrets", "spring.main.banner-mode=off"),
							Stream.of("shardkeeper.topics.visits.shards=1")
								.filter((shards) -> Stream.of(properties)
									.noneMatch((other) -> other.contains(".source="))),
							Stream.of(properties))
					.flatMap((some) -> some)
					.map((property) -> "--" + property)
					.toArray(String[]::new));
		}
		catch (RuntimeException ex) {
			add(ex);
		}
	}

	private void add(Throwable failure) {
		StringWriter text = new StringWriter();
		failure.printStackTrace(new PrintWriter(text, true));
		this.seen.append(text);
	}

	private String health() {
		return JSON
			.writeValueAsString(instance().getBean("shardkeeperHealthIndicator", HealthIndicator.class).health());
	}

	/** Returns everything that can be seen of a running application. */
	private String look() {
		ConfigurableApplicationContext running = instance();
		StringBuilder all = new StringBuilder(health());
		all.append(JSON.writeValueAsString(running.getBean(GroupReporter.class).report()));
		running.getBeansOfType(Object.class)
			.values()
			.stream()
			.filter((bean) -> bean.getClass().getName().startsWith("io.github.shardkeeper."))
			.forEach((bean) -> all.append(bean).append('\n'));
		try {
			running.getBean(ShardTemplate.class).send("visits", "key", "payload");
		}
		catch (RuntimeException ex) {
			add(ex);
		}
		return all.append(this.seen).toString();
	}

	private ConfigurableApplicationContext instance() {
		return Objects.requireNonNull(this.instance, () -> "not started: " + this.seen);
	}

	private void assertHidden(CapturedOutput output) {
		if (this.instance != null) {
			this.seen.append(look());
			this.instance.close();
		}
		assertThat(output.getAll()).doesNotContain(SECRET);
		assertThat(this.seen.toString()).isNotEmpty().doesNotContain(SECRET);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

}
