package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.endtoend.LineageChecker.Death;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group of processes whose Redis or whose source loses what it has acknowledged, as
 * Redis and the traces of its handlers show it. Confined to one thread.
 */
final class LossyGroup implements AutoCloseable {

	/** Much longer than anything may take on any machine. */
	static final Duration PATIENCE = Duration.ofMinutes(3);

	private final Path directory;

	private final int size;

	private final int shards;

	/** Decides the run; named in each failure. */
	private final long seed;

	private final LettuceConnectionFactory connections;

	private final RedisConnector connector;

	private final RedisCoordinationStore store;

	private final RedisCheckpointStore checkpoints;

	private final Instances instances;

	private final List<Death> deaths = new ArrayList<>();

	private final List<Stillness> freezes = new ArrayList<>();

	/**
	 * Creates a group without instances.
	 * @param directory for traces and logs
	 * @param size how many instances it has when it is at rest
	 * @param shards how many all its topics have, a multiple of its size
	 * @param ownShards how many are in Redis
	 */
	LossyGroup(EmbeddedRedis redis, Path directory, String group, int size, int shards, int ownShards, long seed) {
		this.directory = directory;
		this.size = size;
		this.shards = shards;
		this.seed = seed;
		this.connections = RedisClients.factory(redis);
		this.connector = new RedisConnector(this.connections);
		this.store = new RedisCoordinationStore(this.connector, "shardkeeper", group, Duration.ofSeconds(10));
		this.checkpoints = new RedisCheckpointStore(this.connector, "shardkeeper", group, Duration.ofSeconds(10));
		this.instances = new Instances((instance) -> redis.port(), directory, group, ownShards);
	}

	RedisConnector connector() {
		return this.connector;
	}

	Instances instances() {
		return this.instances;
	}

	/** Kills an instance: what it has not committed is handled again. */
	void kill(String instance) {
		this.instances.kill(instance);
		this.instances.awaitEnd(instance);
		this.deaths.add(new Death(instance, Trace.nowMicros()));
	}

	/** Freezes an instance until others own its shards, and something has happened. */
	void freeze(String instance, Runnable meanwhile) {
		long before = Trace.nowMicros();
		this.instances.signal(instance, "STOP");
		long frozen = Trace.nowMicros();
		try {
			meanwhile.run();
			awaitNothingOwnedBy(instance);
		}
		finally {
			// A signal takes a while to send: calls may begin and return meanwhile.
			long stillFrozen = Trace.nowMicros();
			this.instances.signal(instance, "CONT");
			this.deaths.add(new Death(instance, before));
			this.freezes.add(new Stillness(instance, frozen, stillFrozen));
		}
	}

	Set<MemberId> members(String instance) {
		return this.store.readChanges(0, -1)
			.members()
			.stream()
			.map(GroupMember::id)
			.filter((id) -> id.instance().equals(instance))
			.collect(Collectors.toSet());
	}

	Set<ShardId> ownedBy(String instance) {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((ownership) -> isOwnedBy(ownership, instance))
			.map(Ownership::shard)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	void awaitNothingOwnedBy(String instance) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.store.readChanges(0, -1)
				.ownerships()
				.stream()
				.noneMatch((ownership) -> isOwnedBy(ownership, instance)));
	}

	private static boolean isOwnedBy(Ownership ownership, String instance) {
		return ownership.owner() != null && ownership.owner().instance().equals(instance);
	}

	/** All are there, with the same number of shards. */
	void awaitBalance() {
		Awaitility.await()
			.atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.untilAsserted(() -> {
				GroupChanges group = this.store.readChanges(0, -1);
				Map<String, Long> loads = group.ownerships()
					.stream()
					.filter((ownership) -> ownership.phase() == Phase.OWNED)
					.collect(Collectors.groupingBy((ownership) -> String.valueOf(ownership.owner()),
							Collectors.counting()));
				assertThat(loads).as("seed %d: %s", this.seed, group).hasSize(this.size);
				assertThat(loads.values()).as("seed %d: %s", this.seed, group)
					.containsOnly((long) this.shards / this.size);
			});
	}

	/** Every shard that is fed handles records again. */
	void awaitHandled(int fed) {
		long since = Trace.nowMicros();
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(Trace.read(this.directory).byShard().values())
				.as("seed %d: shards that handle records", this.seed)
				.filteredOn((lines) -> lines.get(lines.size() - 1).beginMicros() > since)
				.hasSize(fed));
	}

	/**
	 * Checks a shard once it has handled everything.
	 * @param left the numbers that its source still has
	 */
	void check(ShardId shard, List<Long> left) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			List<Trace.Line> calls = calls(shard);
			Trace.Line last = calls.get(calls.size() - 1);
			assertThat(last.number()).as("seed %d: last number of %s", this.seed, shard)
				.isGreaterThanOrEqualTo(left.get(left.size() - 1));
			assertThat(state(shard)).isEqualTo(new State(last.sum(), last.count()));
		});
		assertThat(LineageChecker.check(calls(shard), left, state(shard), this.deaths))
			.as("%s, seed %d; traces and logs are in %s", shard, this.seed, this.directory)
			.isEmpty();
	}

	/** Those that returned while their owner had the shard. */
	List<Trace.Line> calls(ShardId shard) {
		return Trace.read(this.directory)
			.byShard()
			.getOrDefault(Trace.name(shard), List.of())
			.stream()
			.filter((line) -> this.freezes.stream().noneMatch((freeze) -> spans(line, freeze)))
			.toList();
	}

	/** Its commit was refused: another instance has owned the shard meanwhile. */
	private static boolean spans(Trace.Line line, Stillness freeze) {
		return line.instance().equals(freeze.instance()) && line.beginMicros() <= freeze.beginMicros()
				&& line.endMicros() >= freeze.endMicros();
	}

	RedisCheckpointStore checkpoints() {
		return this.checkpoints;
	}

	private State state(ShardId shard) {
		Map<String, String> state = this.checkpoints.read(shard).state();
		return new State(Long.parseLong(state.getOrDefault("sum", "0")),
				Long.parseLong(state.getOrDefault("count", "0")));
	}

	/** Lets time pass, in which something is written that will be lost. */
	static void pause(long millis) {
		try {
			new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.instances.close();
		this.store.close();
		this.checkpoints.close();
		this.connections.destroy();
	}

	/** From after a process was stopped until before it was continued. */
	private record Stillness(String instance, long beginMicros, long endMicros) {

	}

}
