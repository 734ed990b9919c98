package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnection;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Signals between whole applications.
 */
@Tag("proof")
class ClusterSignalsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static Runnable duringStart = () -> {
	};

	@RegisterExtension
	private final EmbeddedGroup redis = EmbeddedGroup.onRedis("shardkeeper.signals.max-payload-size=1KB");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.redis.name());
	}

	@Test
	void everyInstanceHandlesASignalOnRedis() throws Exception {
		ConfigurableApplicationContext one = this.redis.start(Listening.class, "one");
		ConfigurableApplicationContext two = this.redis.start(Listening.class, "two");
		ConfigurableApplicationContext sender = this.redis.start(Sending.class, "sender");

		SignalResult result = sender.getBean(ClusterSignals.class).send("visit", new Visit("a", 3)).await(2, PATIENCE);

		assertThat(result.handled()).extracting((member) -> member.instance()).containsExactly("one", "two");
		assertThat(visits(one)).containsExactly(new Visit("a", 3));
		assertThat(visits(two)).containsExactly(new Visit("a", 3));
		assertThat(result.failed()).isEmpty();
	}

	@Test
	void instanceThatStartsLaterHandlesTheLatestSignalIfItWantsEarlierOnes() throws Exception {
		ClusterSignals signals = this.redis.start(Sending.class, "sender").getBean(ClusterSignals.class);
		signals.send("index", "1");
		signals.send("index", "2");
		signals.send("visit", new Visit("a", 1));
		sentLongAgo("index");
		sentLongAgo("visit");

		Listener late = this.redis.start(Listening.class, "late").getBean(Listener.class);
		assertThat(late.indexes.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("2");
		signals.send("visit", new Visit("a", 2)).await(1, PATIENCE);

		assertThat(late.visits).containsExactly(new Visit("a", 2));
		assertThat(late.indexes).isEmpty();
	}

	@Test
	void signalThatWasSentDuringTheStartIsHandled() throws Exception {
		ClusterSignals signals = this.redis.start(Sending.class, "sender").getBean(ClusterSignals.class);
		duringStart = () -> signals.send("visit", new Visit("a", 1));

		Listener starting = this.redis.start(Listening.class, "starting").getBean(Listener.class);

		assertThat(starting.visits.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(new Visit("a", 1));
	}

	/** As if the latest signal of a name had been sent half an hour ago. */
	private void sentLongAgo(String name) {
		String key = "%s:{%s}:signals".formatted(this.redis.name(), this.redis.name());
		RedisConnection redis = RedisClients.sharedFactory().getConnection();
		String[] fields = new String(redis.hashCommands().hGet(key.getBytes(), name.getBytes())).split("\\|", 3);
		long sent = Long.parseLong(fields[1]) - Duration.ofMinutes(30).toMillis();
		redis.hashCommands()
			.hSet(key.getBytes(), name.getBytes(),
					String.join("|", fields[0], Long.toString(sent), fields[2]).getBytes());
	}

	@Test
	void instanceThatWasCutOffHandlesTheLatestSignalAfterwards() throws Exception {
		ConfigurableApplicationContext sender = this.redis.start(Sending.class, "sender");
		ConfigurableApplicationContext listening = this.redis.start(Listening.class, "one");
		ClusterSignals signals = sender.getBean(ClusterSignals.class);
		assertThat(signals.send("visit", new Visit("a", 1)).await(1, PATIENCE).complete()).isTrue();
		this.redis.kill("one");
		signals.send("visit", new Visit("a", 2));
		signals.send("visit", new Visit("a", 3));
		this.redis.network("one").heal();

		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> visits(listening).equals(List.of(new Visit("a", 1), new Visit("a", 3))));
	}

	@Test
	void signalsWorkInMemory() throws Exception {
		try (ConfigurableApplicationContext context = inMemory(Listening.class)) {
			ClusterSignals signals = context.getBean(ClusterSignals.class);

			SignalResult handled = signals.send("visit", new Visit("a", 3)).await(1, PATIENCE);
			SignalResult failed = signals.send("visit", "no visit").await(1, PATIENCE);
			SignalResult typeless = signals.send("note", "no visit").await(1, PATIENCE);

			assertThat(handled.handled()).hasSize(1);
			assertThat(failed.failed().values()).singleElement().asString().contains("Listener.visit", "Visit");
			assertThat(typeless.complete()).isTrue();
			assertThat(context.getBean(Listener.class).notes.poll().payload()).isEqualTo("no visit");
			assertThatIllegalArgumentException().isThrownBy(() -> signals.send("note", "x".repeat(70_000)))
				.withMessageContaining("65536");
		}
	}

	@Test
	void payloadAboveTheConfiguredSizeIsRefused() {
		ClusterSignals signals = this.redis.start(Sending.class, "sender").getBean(ClusterSignals.class);

		assertThatIllegalArgumentException().isThrownBy(() -> signals.send("visit", "x".repeat(1025)))
			.withMessageContaining("1024");
	}

	@Test
	void applicationWithoutSignalsHasNoKeysForThem() {
		Set<Thread> ofOthers = Thread.getAllStackTraces().keySet();
		ConfigurableApplicationContext idle = this.redis.start(Idle.class, "idle");

		assertThat(idle.getBeanFactory().containsSingleton("shardkeeperClusterSignals")).isFalse();
		assertThat(RedisClients.sharedFactory()
			.getConnection()
			.keyCommands()
			.keys((this.redis.name() + ":*signal*").getBytes())).isEmpty();
		assertThat(Thread.getAllStackTraces().keySet()).filteredOn((thread) -> !ofOthers.contains(thread))
			.extracting(Thread::getName)
			.doesNotContain("shardkeeper-cluster");
	}

	@Test
	void methodsMakeTheToolActiveWithoutAnInjectedBean() {
		ConfigurableApplicationContext listening = this.redis.start(Listening.class, "one");

		assertThat(listening.getBeanFactory().containsSingleton("shardkeeperClusterSignals")).isTrue();
	}

	@Test
	void unsupportedMethodFailsStartup() {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> inMemory(Unsupported.class).close())
			.havingRootCause()
			.isInstanceOf(ShardkeeperConfigurationException.class)
			.withMessageContaining("with space");
	}

	@Test
	void methodsOfOneNameThatDifferInAtStartFailStartup() {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> inMemory(Differing.class).close())
			.havingRootCause()
			.isInstanceOf(ShardkeeperConfigurationException.class)
			.withMessageContaining("of the signal 'visit' differ in 'atStart'");
	}

	@Test
	void invalidRetentionFailsStartup() {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> inMemory(Sending.class, "--shardkeeper.signals.retention=-1s").close())
			.havingRootCause()
			.withMessageContaining("shardkeeper.signals.retention");
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> inMemory(Sending.class, "--shardkeeper.signals.max-payload-size=2MB").close())
			.havingRootCause()
			.withMessageContaining("shardkeeper.signals.max-payload-size");
	}

	private static ConfigurableApplicationContext inMemory(Class<?> application, String... properties) {
		SpringApplication spring = new SpringApplicationBuilder(application)
			.properties("spring.main.web-application-type=none", "spring.main.banner-mode=off",
					"shardkeeper.store=memory", "shardkeeper.group=signals")
			.registerShutdownHook(false)
			.build();
		return spring.run(properties);
	}

	private static List<Visit> visits(ConfigurableApplicationContext context) {
		return List.copyOf(context.getBean(Listener.class).visits);
	}

	record Visit(String page, int seconds) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Idle {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Sending {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Listening {

		@Bean
		Listener listener() {
			duringStart.run();
			duringStart = () -> {
			};
			return new Listener();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Unsupported {

		@OnClusterSignal("with space")
		void handle() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Differing extends Listening {

		@OnClusterSignal(value = "visit", atStart = true)
		void handle() {
		}

	}

	static class Listener {

		private final BlockingQueue<Visit> visits = new LinkedBlockingQueue<>();

		private final BlockingQueue<String> indexes = new LinkedBlockingQueue<>();

		private final BlockingQueue<ClusterSignal> notes = new LinkedBlockingQueue<>();

		@OnClusterSignal("visit")
		void visit(Visit visit) {
			this.visits.add(visit);
		}

		@OnClusterSignal(value = "index", atStart = true)
		void index(String index) {
			this.indexes.add(index);
		}

		@OnClusterSignal("note")
		void note(ClusterSignal signal) {
			this.notes.add(signal);
		}

	}

}
