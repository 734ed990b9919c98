package io.github.shardkeeper.endtoend;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.Appends;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two whole applications in this JVM, with one memory store and one memory source, and
 * shards of which some get more records than others.
 */
@RunAlone
class LoadAwareTests {

	private static final int SHARDS = 20;

	private static final Duration INTERVAL = Duration.ofMillis(300);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final byte[] RECORD = "\"record\"".getBytes(StandardCharsets.UTF_8);

	/**
	 * Few enough records that a busy machine does not fall behind: then no shard is hot.
	 */
	private static final Duration FEED_PERIOD = Duration.ofMillis(20);

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	private final AtomicLong heartbeats = new AtomicLong();

	private final AtomicLong reports = new AtomicLong();

	private final AtomicLong reads = new AtomicLong();

	private final MemoryCoordinationStore memory = new MemoryCoordinationStore();

	private final CoordinationStore store = counted(this.memory);

	private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", SHARDS));

	/** By shard the records that it gets in a period. */
	private final Map<ShardId, Integer> feed = new ConcurrentHashMap<>();

	private final ScheduledExecutorService feeder = Executors.newSingleThreadScheduledExecutor();

	@AfterEach
	void stop() {
		this.feeder.shutdownNow();
		this.instances.forEach(ConfigurableApplicationContext::close);
	}

	@Test
	void hotInstanceGivesShardsAwayAndThenNothingMoves() {
		start("a", "load-aware");
		start("b", "load-aware");
		awaitTenEach();
		awaitMeasured("b");
		Set<ShardId> firstOfA = shardsOf("a");
		ShardId hot = firstOfA.iterator().next();
		feed(1);
		this.feed.put(hot, 17);

		Awaitility.await().atMost(PATIENCE).until(() -> shardsOf("b").size() > 13);
		awaitNoMovesFor(10);
		Set<ShardId> ofA = shardsOf("a");
		Set<ShardId> ofB = shardsOf("b");
		long reportsBefore = this.reports.get();
		awaitNoMovesFor(15);

		System.out.printf("a has the hot shard and %d others, b %d; %d reports in %d heartbeats, %d readings%n",
				ofA.size() - 1, ofB.size(), this.reports.get(), this.heartbeats.get(), this.reads.get());
		assertThat(shardsOf("a")).isEqualTo(ofA).contains(hot).hasSizeBetween(2, 6);
		assertThat(shardsOf("b")).isEqualTo(ofB);
		assertThat(reportsBefore).isPositive();
		ShardId moved = ofB.stream().filter(firstOfA::contains).findFirst().orElseThrow();
		assertThat(why(moved)).startsWith(moved + " stays with b~");
	}

	@Test
	void idleShardsDoNotMove() {
		start("a", "load-aware");
		start("b", "load-aware");
		awaitTenEach();
		ShardId hot = shardsOf("a").iterator().next();
		this.feed.put(hot, 17);
		feed(0);
		Awaitility.await().atMost(PATIENCE).until(() -> this.reads.get() > 0);
		long generation = generation();

		awaitNoMovesFor(15);

		assertThat(generation()).isEqualTo(generation);
	}

	@Test
	void withoutLoadAwareStrategyNothingIsReportedOrRead() {
		start("a", "sticky");
		start("b", "sticky");
		awaitTenEach();
		this.feed.put(shardsOf("a").iterator().next(), 17);
		feed(1);
		long before = this.heartbeats.get();

		Awaitility.await().atMost(PATIENCE).until(() -> this.heartbeats.get() - before > 60);

		assertThat(this.reports).hasValue(0);
		assertThat(this.reads).hasValue(0);
		assertThat(shardsOf("a")).hasSize(SHARDS / 2);
		this.instances
			.forEach((instance) -> assertThat(instance.getBean(ShardCoordinator.class).measuresLoads()).isFalse());
	}

	/** From now on every shard that gets nothing yet gets that many per period. */
	private void feed(int records) {
		for (int shard = 0; shard < SHARDS; shard++) {
			this.feed.putIfAbsent(ShardId.of("orders", shard), records);
		}
		this.feeder.scheduleAtFixedRate(() -> {
			List<NewRecord> batch = new ArrayList<>();
			this.feed.forEach((shard, count) -> {
				for (int i = 0; i < count; i++) {
					batch.add(new NewRecord(shard, "key", RECORD));
				}
			});
			Appends.append(this.source, batch);
		}, 0, FEED_PERIOD.toMillis(), TimeUnit.MILLISECONDS);
	}

	/** Waits until nothing has moved for that many intervals. */
	private void awaitNoMovesFor(int intervals) {
		AtomicLong calmSince = new AtomicLong(System.nanoTime());
		AtomicLong last = new AtomicLong(generation());
		Awaitility.await().atMost(PATIENCE).until(() -> {
			long now = System.nanoTime();
			long generation = generation();
			if (last.getAndSet(generation) != generation) {
				calmSince.set(now);
			}
			return now - calmSince.get() > INTERVAL.multipliedBy(intervals).toNanos();
		});
	}

	private long generation() {
		return this.memory.readChanges(Long.MAX_VALUE, -1).generation();
	}

	private String why(ShardId shard) {
		return this.instances.stream()
			.map((instance) -> instance.getBean(ShardCoordinator.class).why(shard))
			.flatMap(Optional::stream)
			.findFirst()
			.orElseThrow();
	}

	private void awaitTenEach() {
		Awaitility.await().atMost(PATIENCE).until(() -> shardsOf("a").size() == 10 && shardsOf("b").size() == 10);
	}

	/**
	 * All shards are to be idle at their first measurement: the others' loads are
	 * smoothed from there, and one that is measured first when it gets records would look
	 * hotter.
	 */
	private void awaitMeasured(String instance) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.memory.readLoads(0)
				.reports()
				.entrySet()
				.stream()
				.filter((report) -> report.getKey().instance().equals(instance))
				.anyMatch((report) -> report.getValue().text().split("[=,]").length > SHARDS / 2));
	}

	private Set<ShardId> shardsOf(String instance) {
		return this.instances.get(0)
			.getBean(GroupReporter.class)
			.report()
			.shards()
			.stream()
			.filter((shard) -> shard.state().equals("OWNED") && shard.owner().startsWith(instance + "~"))
			.map((shard) -> new ShardId(shard.topic(), shard.id()))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private void start(String name, String strategy) {
		this.instances.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.initializers((context) -> {
				context.getBeanFactory().registerSingleton("coordinationStore", this.store);
				context.getBeanFactory().registerSingleton("checkpointStore", this.checkpoints);
				context.getBeanFactory().registerSingleton("source", this.source);
			})
			.run("--shardkeeper.store=memory", "--shardkeeper.group=loads", "--shardkeeper.instance-id=" + name,
					"--shardkeeper.topics.orders.shards=" + SHARDS, "--shardkeeper.assignment.strategy=" + strategy,
					"--shardkeeper.assignment.load.measure=records", "--shardkeeper.consumer.commit.interval=200ms",
					"--shardkeeper.assignment.load.report-interval=" + INTERVAL.toMillis() + "ms",
					"--shardkeeper.assignment.load.difference=130", "--shardkeeper.assignment.load.gain=20",
					"--shardkeeper.assignment.load.cool-down=1s", "--shardkeeper.session.heartbeat-interval=50ms",
					"--spring.main.banner-mode=off", "--logging.level.root=warn"));
	}

	private CoordinationStore counted(CoordinationStore target) {
		return (CoordinationStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("heartbeat")) {
						this.heartbeats.incrementAndGet();
						if (!arguments[3].equals(LoadReport.NONE)) {
							this.reports.incrementAndGet();
						}
					}
					else if (method.getName().equals("readLoads")) {
						this.reads.incrementAndGet();
					}
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	/** Does next to nothing with each of many records. */
	static class Handler {

		@ShardConsumer("orders")
		void handle(String record) {
		}

	}

}
