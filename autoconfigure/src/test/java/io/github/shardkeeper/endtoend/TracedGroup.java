package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardSessionLostEvent;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.FaultyProxy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances of {@link TracingInstance} in this JVM, in one group: on a single Redis each
 * with a network of its own, so that one can die. Afterwards it checks: every shard
 * consumed by a live instance, all instances healthy, and state and offset of every shard
 * what it was fed with. Confined to one thread.
 */
final class TracedGroup implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(40);

	private final LettuceConnectionFactory connections;

	private final @Nullable EmbeddedRedis redis;

	private final String group;

	private final int shards;

	private final Path directory;

	private final List<String> arguments;

	private final RedisConnector connector;

	private final RedisCheckpointStore checkpoints;

	/** Live instances by name. */
	private final Map<String, Instance> instances = new TreeMap<>();

	/** Contexts of the dead, which take their time to find out. */
	private final List<CompletableFuture<Void>> burials = new ArrayList<>();

	private TracedGroup(LettuceConnectionFactory connections, @Nullable EmbeddedRedis redis, Path directory,
			String group, int shards, Stream<String> arguments) {
		this.connections = connections;
		this.redis = redis;
		this.directory = directory;
		this.group = group;
		this.shards = shards;
		this.arguments = arguments.toList();
		this.connector = new RedisConnector(connections);
		this.checkpoints = new RedisCheckpointStore(this.connector, "shardkeeper", group, Duration.ofSeconds(10));
	}

	/**
	 * A group without instances on a single Redis.
	 * @param directory for traces, of this group alone
	 * @param arguments for all its instances
	 */
	static TracedGroup on(EmbeddedRedis redis, Path directory, String group, int shards, String... arguments) {
		return new TracedGroup(RedisClients.factory(redis), redis, directory, group, shards, Stream.of(arguments));
	}

	/** The same on a Cluster, whose instances cannot die. */
	static TracedGroup on(EmbeddedRedisCluster cluster, Path directory, String group, int shards, String... arguments) {
		return new TracedGroup(RedisClients.factory(cluster), null, directory, group, shards, Stream
			.concat(Stream.of("--spring.data.redis.cluster.nodes=" + cluster.addresses()), Stream.of(arguments)));
	}

	/** Opens connections without faults. */
	RedisConnector connector() {
		return this.connector;
	}

	/** Returns the key prefix of the group's control plane, without the colon. */
	String controlKey() {
		return "shardkeeper:{" + this.group + "}";
	}

	/** Returns the key prefix of a shard's data plane, without the colon. */
	String dataKey(int shard) {
		return "shardkeeper:{" + this.group + "/" + shard(shard) + "}";
	}

	static String streamKey(int shard) {
		return "shardkeeper:{%s#%d}:stream:%d".formatted(TracingInstance.TOPIC, shard % 16, shard);
	}

	private static ShardId shard(int id) {
		return ShardId.of(TracingInstance.TOPIC, id);
	}

	/** Starts instances, one after the other. */
	void start(String... names) {
		for (String name : names) {
			start(name, List.of());
		}
	}

	private void start(String name, List<String> more) {
		FaultyProxy network = (this.redis != null) ? new FaultyProxy(this.redis.port(), "{" + this.group + "}") : null;
		List<String> all = new ArrayList<>(
				List.of("--shardkeeper.group=" + this.group, "--shardkeeper.instance-id=" + name,
						"--shardkeeper.topics." + TracingInstance.TOPIC + ".shards=" + this.shards,
						"--shardkeeper.consumer.commit.interval=200ms", "--spring.main.banner-mode=off",
						"--spring.lifecycle.timeout-per-shutdown-phase=8s",
						"--trace.file=" + this.directory.resolve(name + ".trace")));
		if (network != null) {
			all.add("--spring.data.redis.port=" + network.port());
		}
		all.addAll(this.arguments);
		all.addAll(more);
		Suspensions suspensions = new Suspensions();
		this.instances.put(name, new Instance(run(all, suspensions), network, suspensions));
	}

	/** One at a time: Spring Boot prepares a JVM's logging for each, and not for two. */
	private static ConfigurableApplicationContext run(List<String> arguments, Suspensions suspensions) {
		synchronized (TracedGroup.class) {
			return new SpringApplicationBuilder(TracingInstance.Application.class).web(WebApplicationType.NONE)
				.registerShutdownHook(false)
				.initializers((created) -> ((GenericApplicationContext) created).registerBean(Suspensions.class,
						() -> suspensions))
				.run(arguments.toArray(String[]::new));
		}
	}

	/** Lets an instance leave in order. */
	void stop(String name) {
		Instance stopped = this.instances.remove(name);
		stopped.context.close();
		stopped.closeNetwork();
	}

	/**
	 * Closes all connections of an instance for ever, which is what Redis sees of a
	 * process that was killed. It consumes on until its lease ends.
	 */
	void die(String name) {
		Instance dead = this.instances.remove(name);
		dead.closeNetwork();
		this.burials.add(CompletableFuture.runAsync(dead.context::close));
	}

	/** Lets one instance after the other leave and begin again. */
	void rollingRestart(String... more) {
		Set.copyOf(this.instances.keySet()).forEach((name) -> restart(name, more));
	}

	/** Lets an instance leave, and begin again. */
	void restart(String name, String... more) {
		stop(name);
		start(name, List.of(more));
	}

	/** Returns the number of ended leases of an instance since its start. */
	int suspensions(String name) {
		return this.instances.get(name).suspensions.count.get();
	}

	/** Returns the live instances. */
	Set<String> names() {
		return this.instances.keySet();
	}

	/**
	 * Waits until every shard is owned by a live instance and has handled all records
	 * sent until now, every instance owns some, and all instances report so and are
	 * healthy.
	 * @param feeder what feeds the shards
	 * @param others instances that are processes of their own
	 * @return how long that took
	 */
	Duration awaitHealthy(Feeder feeder, String... others) {
		Map<String, Long> fed = new TreeMap<>();
		for (int shard = 0; shard < this.shards; shard++) {
			fed.put(Integer.toString(shard), feeder.sent(shard));
		}
		return await(() -> {
			assertHealthy(others);
			Map<String, State> states = states();
			fed.forEach((shard, count) -> assertThat(states.get(shard).count())
				.as("what shard %s of %s has handled", shard, this.group)
				.isGreaterThanOrEqualTo(count));
		});
	}

	/**
	 * The same if it is unknown how many of the sent records still exist: waits until
	 * every shard has handled something that came later.
	 * @return how long that took
	 */
	Duration awaitHealthyAndConsuming() {
		long now = Trace.nowMicros();
		return await(() -> {
			assertHealthy();
			assertThat(trace().byShard()).as(this.group)
				.hasSize(this.shards)
				.allSatisfy((shard, lines) -> assertThat(lines.get(lines.size() - 1).beginMicros())
					.as("shard %s was handled", shard)
					.isGreaterThan(now));
		});
	}

	private Duration await(ThrowingRunnable condition) {
		long began = System.nanoTime();
		Awaitility.await(this.group)
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(100))
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.untilAsserted(condition);
		return Duration.ofNanos(System.nanoTime() - began);
	}

	private void assertHealthy(String... others) {
		Set<String> alive = new TreeSet<>(this.instances.keySet());
		alive.addAll(List.of(others));
		this.instances.forEach((name, instance) -> {
			GroupReport report = instance.context.getBean(GroupReporter.class).report();
			assertThat(report.error()).as("%s, seen by %s", this.group, name).isNull();
			assertThat(report.members()).as("members of %s, seen by %s", this.group, name)
				.extracting(MemberReport::instance)
				.containsExactlyInAnyOrderElementsOf(alive);
			assertThat(report.shards()).as("shards of %s, seen by %s", this.group, name)
				.hasSize(this.shards)
				.allMatch((shard) -> shard.state().equals("OWNED"))
				.extracting(ShardReport::owner)
				.hasSameElementsAs(report.members().stream().map(MemberReport::id).toList());
			Health health = instance.context.getBean(ShardkeeperHealthIndicator.class).health();
			assertThat(health.getStatus()).as("%s of %s: %s", name, this.group, health.getDetails())
				.isEqualTo(Status.UP);
		});
	}

	/**
	 * Waits until everything is committed, and compares each shard's state and offset,
	 * and the traces, with the records that were sent.
	 * @param fed how many numbers each shard was fed with
	 */
	void checkExact(Map<String, Long> fed) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			Map<String, State> states = states();
			fed.forEach((shard, count) -> assertThat(states.get(shard)).as("state of shard %s of %s", shard, this.group)
				.isEqualTo(new State(count * (count + 1) / 2, count)));
		});
		awaitOffsetsAtTheEnd();
		assertThat(new TraceChecker(fed, trace(), List.of()).check(states())).as("%s", this.group).isEmpty();
	}

	/** Waits until the last record of every shard is committed. */
	void awaitOffsetsAtTheEnd() {
		for (int id = 0; id < this.shards; id++) {
			ShardId shard = shard(id);
			String end = end(id);
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(checkpoint(shard).offset()).as("offset of %s of %s", shard, this.group)
					.hasToString(end));
		}
	}

	private Checkpoint checkpoint(ShardId shard) {
		return this.checkpoints.read(shard);
	}

	private String end(int shard) {
		return streams().reverseRange(streamKey(shard), Range.unbounded(), Limit.limit().count(1))
			.get(0)
			.getId()
			.getValue();
	}

	/** The numbers that a shard's stream has. */
	List<Long> numbers(int shard) {
		return streams().range(streamKey(shard), Range.unbounded())
			.stream()
			.map((entry) -> Long.parseLong(entry.getValue().get("v")))
			.toList();
	}

	private StreamOperations<String, String, String> streams() {
		return new StringRedisTemplate(this.connections).opsForStream();
	}

	/** The committed state of every shard. */
	Map<String, State> states() {
		Map<String, State> states = new TreeMap<>();
		for (int id = 0; id < this.shards; id++) {
			Map<String, String> state = checkpoint(shard(id)).state();
			states.put(Integer.toString(id), new State(Long.parseLong(state.getOrDefault("sum", "0")),
					Long.parseLong(state.getOrDefault("count", "0"))));
		}
		return states;
	}

	/** Returns the traces of all instances. */
	Trace trace() {
		return Trace.read(this.directory);
	}

	@Override
	public void close() {
		this.instances.values().forEach((instance) -> {
			instance.context.close();
			instance.closeNetwork();
		});
		this.burials.forEach(CompletableFuture::join);
		this.checkpoints.close();
		this.connector.stop();
		this.connections.destroy();
	}

	private record Instance(ConfigurableApplicationContext context, @Nullable FaultyProxy network,
			Suspensions suspensions) {

		void closeNetwork() {
			if (this.network != null) {
				this.network.close();
			}
		}

	}

	/** Counts the ends of leases. */
	static final class Suspensions {

		private final AtomicInteger count = new AtomicInteger();

		@EventListener
		void hear(ShardSessionLostEvent event) {
			this.count.incrementAndGet();
		}

	}

}
