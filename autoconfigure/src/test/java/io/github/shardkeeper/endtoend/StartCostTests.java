package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads and classes of an instance that has started and has nothing to do, in a process
 * of its own, whose class path has all optional libraries.
 */
@Tag("proof")
class StartCostTests {

	private static final int SHARDS = 4;

	private static final String PACKAGE = "io.github.shardkeeper.";

	private static final List<String> UNCONFIGURED = List.of("kafka", "sls", "jdbc", "dashboard", "observation");

	private static final Pattern LOADED = Pattern.compile("\\] (io\\.github\\.shardkeeper\\.\\S+) source:");

	@TempDir
	private Path directory;

	private String output;

	@BeforeEach
	void start(TestInfo test) throws IOException, InterruptedException {
		boolean consumes = test.getTags().contains("consumes");
		Path log = this.directory.resolve("instance.log");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-Xlog:class+load:file=" + this.directory.resolve("classes.log"), "-cp",
						System.getProperty("java.class.path"), Instance.class.getName(), Boolean.toString(consumes),
						"--spring.main.banner-mode=off", "--shardkeeper.group=started-" + this.directory.getFileName(),
						"--shardkeeper.redis.trust-empty=true",
						// Other tests have a topic with this name and another number of
						// shards.
						"--shardkeeper.key-prefix=started-" + this.directory.getFileName(),
						// Its meters read the group from time to time, on a thread of
						// their own.
						"--spring.autoconfigure.exclude=" + ShardkeeperActuatorAutoConfiguration.class.getName(),
						"--spring.data.redis.port=" + EmbeddedRedis.shared().port(),
						"--shardkeeper.topics.orders.shards=" + SHARDS));
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(Redirect.to(log.toFile()))
			.start();
		try {
			assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("ends").isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		this.output = Files.readString(log);
		assertThat(process.exitValue()).as(this.output).isZero();
	}

	private Set<String> threads(String when) {
		Matcher line = Pattern.compile("^" + when + ":(.*)$", Pattern.MULTILINE).matcher(this.output);
		assertThat(line.find()).as(this.output).isTrue();
		return line.group(1).isBlank() ? Set.of() : Set.of(line.group(1).trim().split(" "));
	}

	private Set<String> classes() throws IOException {
		return LOADED.matcher(Files.readString(this.directory.resolve("classes.log")))
			.results()
			.map((match) -> match.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	@Test
	void instanceWithoutHandlersHasNoThread() {
		assertThat(threads("started")).isEmpty();
		assertThat(threads("closed")).isEmpty();
	}

	/**
	 * At most one thread per shard works, but a thread that has just ended its work does
	 * not wait yet, so the next work may get a new one.
	 */
	@Test
	@Tag("consumes")
	void idleInstanceHasAboutAsManyWorkersAsShards() {
		Set<String> threads = threads("started");
		assertThat(threads).filteredOn((name) -> name.startsWith("shardkeeper-worker-")).hasSizeLessThan(2 * SHARDS);
		assertThat(threads).filteredOn((name) -> !name.startsWith("shardkeeper-worker-"))
			.contains("shardkeeper-coordinator")
			.isSubsetOf("shardkeeper-coordinator", "shardkeeper-heartbeat", "shardkeeper-history", "shardkeeper-lease",
					"shardkeeper-reader", "shardkeeper-rescue", "shardkeeper-settings", "shardkeeper-timer",
					"shardkeeper-trimming", "shardkeeper-watchdog");
		assertThat(threads("closed")).isEmpty();
	}

	@Test
	@Tag("consumes")
	void nothingIsLoadedThatIsNotConfigured() throws IOException {
		Set<String> classes = classes();
		assertThat(classes).contains("io.github.shardkeeper.redis.stream.RedisStreamSource");
		// Conditions look for these.
		classes.removeAll(Set.of("io.github.shardkeeper.jdbc.JdbcDataPlane",
				"io.github.shardkeeper.kafka.KafkaShardSource", "io.github.shardkeeper.sls.SlsShardSource"));
		assertThat(classes)
			.noneMatch((name) -> UNCONFIGURED.stream().anyMatch((room) -> name.startsWith(PACKAGE + room + ".")));
	}

	/** Prints its threads after the start and after the end. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Instance {

		/** They end by themselves soon. */
		private static final Set<String> PASSING = Set.of("shardkeeper-connect", "shardkeeper-warm-up",
				"shardkeeper-events");

		/** Ends by itself within half a minute after its work. */
		private static final String BACKGROUND = "shardkeeper-background";

		public static void main(String[] arguments) throws InterruptedException {
			// The threads of the instance would keep the process.
			Thread.setDefaultUncaughtExceptionHandler((thread, ex) -> {
				ex.printStackTrace();
				System.exit(1);
			});
			boolean consumes = Boolean.parseBoolean(arguments[0]);
			SpringApplicationBuilder application = new SpringApplicationBuilder(Instance.class)
				.sources(consumes ? new Class<?>[] { Consuming.class } : new Class<?>[0])
				.web(WebApplicationType.NONE);
			ConfigurableApplicationContext context = application
				.run(List.of(arguments).subList(1, arguments.length).toArray(String[]::new));
			if (consumes) {
				assertThat(context.getBean(Handler.class).missing.await(1, TimeUnit.MINUTES)).isTrue();
			}
			print("started");
			context.close();
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> own().isEmpty());
			print("closed");
			System.exit(0);
		}

		private static void print(String when) {
			Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> own().stream().noneMatch(PASSING::contains));
			System.out.println(when + ": " + String.join(" ", own()));
		}

		private static Set<String> own() {
			return Thread.getAllStackTraces()
				.keySet()
				.stream()
				.filter(Thread::isAlive)
				.map(Thread::getName)
				.filter((name) -> name.startsWith("shardkeeper-") && !name.equals(BACKGROUND))
				.collect(Collectors.toCollection(TreeSet::new));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Consuming {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final CountDownLatch missing = new CountDownLatch(SHARDS);

		@OnShardAssigned
		void assigned(ShardContext shard) {
			this.missing.countDown();
		}

		@ShardConsumer("orders")
		void handle(String payload) {
			throw new IllegalStateException("There are no records");
		}

	}

}
