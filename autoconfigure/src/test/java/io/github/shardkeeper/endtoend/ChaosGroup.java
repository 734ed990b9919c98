package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupChanges.RestartingInstance;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * A group as Redis knows it, seen over undisturbed connections, and the feeder of it.
 * Thread-safe.
 */
final class ChaosGroup implements AutoCloseable {

	/** Much longer than anything may take on any machine. */
	private static final Duration LONGEST_WAIT = Duration.ofMinutes(3);

	/** So that the calls for the shards do not all begin at the same time. */
	private static final int SLICES = 10;

	private final int size;

	private final int shards;

	private final int partitions;

	private final LettuceConnectionFactory connections;

	private final RedisCoordinationStore store;

	private final RedisCheckpointStore checkpoints;

	private final Feeder feeder;

	private final KafkaFeeder kafkaFeeder;

	private final UnreliableGroup unreliable;

	private final SentOnce sentOnce;

	private final BookedGroup booked;

	private final ForwardedGroup forwarded;

	private final RemindedGroup reminded;

	/**
	 * Creates the view of a group and begins to feed it.
	 * @param size how many instances it has when it is at rest
	 * @param shards how many are in Redis
	 * @param partitions how many are in Kafka
	 * @param interval the time between two records of a shard
	 * @param booked what is written to a database; closed with this
	 */
	ChaosGroup(EmbeddedRedis redis, EmbeddedKafka kafka, String group, int size, int shards, int partitions,
			Duration interval, BookedGroup booked) {
		this.size = size;
		this.shards = shards;
		this.partitions = partitions;
		this.connections = RedisClients.factory(redis);
		RedisConnector connector = new RedisConnector(this.connections);
		this.store = new RedisCoordinationStore(connector, "shardkeeper", group, Duration.ofSeconds(10));
		this.checkpoints = new RedisCheckpointStore(connector, "shardkeeper", group, Duration.ofSeconds(10));
		this.feeder = new Feeder(connector, shards, interval, SLICES);
		this.kafkaFeeder = new KafkaFeeder(kafka, TracingInstance.KAFKA_TOPIC, partitions, interval);
		this.unreliable = new UnreliableGroup(connector, group, interval);
		this.sentOnce = new SentOnce(redis);
		this.forwarded = new ForwardedGroup(redis, connector, interval);
		this.booked = booked;
		this.booked.feed(connector, interval);
		this.reminded = new RemindedGroup(connector, this.checkpoints, booked.checkpoints(group), interval);
	}

	/** The leader's instance, or none. */
	String leader() {
		MemberId leader = this.store.readChanges(0, -1).leader();
		return (leader != null) ? leader.instance() : "";
	}

	/** Every shard with its owner and token. */
	Map<ShardId, Ownership> ownerships() {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.collect(Collectors.toMap(Ownership::shard, (ownership) -> ownership, (one, other) -> one, TreeMap::new));
	}

	/** Returns the number of shards with another token than before. */
	long movedSince(Map<ShardId, Ownership> before) {
		return ownerships().values()
			.stream()
			.filter((now) -> !now.token().equals(before.get(now.shard()).token()))
			.count();
	}

	void awaitJoined(String instance) {
		await(instance + " is a member", () -> members(this.store.readChanges(0, -1)).stream()
			.anyMatch((member) -> member.id().instance().equals(instance) && !member.leaving()));
	}

	void awaitNothingOwnedBy(String instance) {
		await("nothing is owned by " + instance, () -> this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.noneMatch((ownership) -> ownership.owner() != null && ownership.owner().instance().equals(instance)));
	}

	/** Others may still be about to get them. */
	void awaitNothingKeptFor(String instance) {
		await("nothing is kept for " + instance,
				() -> this.store.readChanges(0, -1)
					.ownerships()
					.stream()
					.noneMatch((ownership) -> instance.equals(RestartingInstance.keptFor(ownership))));
	}

	/**
	 * All are there, have the same number of shards, and have handled all records sent
	 * until now. Both together, because a member that was just killed still looks alive.
	 */
	void awaitRest() {
		Map<String, Long> fed = new TreeMap<>(byName(this.kafkaFeeder.sent()));
		shards().forEach((shard) -> fed.putIfAbsent(Trace.name(shard), this.feeder.sent()));
		await("%d members share the shards evenly and have handled %s".formatted(this.size, fed),
				() -> isBalanced() && haveHandled(fed));
	}

	private boolean isBalanced() {
		int shards = this.shards + this.partitions + 3 * UnreliableHandlers.SHARDS
				+ Bookings.TOPICS.size() * Bookings.SHARDS + Forwarding.SHARDS
				+ Reminders.TOPICS.size() * Reminders.SHARDS;
		GroupChanges group = this.store.readChanges(0, -1);
		List<GroupMember> members = members(group);
		Map<MemberId, Long> loads = group.ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() == Phase.OWNED)
			.collect(Collectors.groupingBy(Ownership::owner, Collectors.counting()));
		return members.size() == this.size && members.stream().noneMatch(GroupMember::leaving)
				&& loads.size() == this.size && loads.values().stream().allMatch((load) -> load == shards / this.size);
	}

	private static List<GroupMember> members(GroupChanges group) {
		return Objects.requireNonNull(group.members(), "Asked for as if none were known");
	}

	/** The shards whose records fail. */
	UnreliableGroup unreliable() {
		return this.unreliable;
	}

	/** What is sent to a topic that nobody consumes. */
	SentOnce sentOnce() {
		return this.sentOnce;
	}

	/** What is sent to another topic as a part of calls. */
	ForwardedGroup forwarded() {
		return this.forwarded;
	}

	/** What is written to a database, and sent from its transactions. */
	BookedGroup booked() {
		return this.booked;
	}

	/** What fires and expires. */
	RemindedGroup reminded() {
		return this.reminded;
	}

	/** Stops feeding; tells how many numbers each shard was fed with. */
	Map<String, Long> stopFeeding() {
		Map<String, Long> fed = this.feeder.stopAll();
		fed.putAll(byName(this.kafkaFeeder.stop()));
		this.unreliable.stopFeeding();
		this.booked.stopFeeding();
		this.forwarded.stopFeeding();
		this.reminded.stopFeeding();
		return fed;
	}

	void awaitAllCommitted(Map<String, Long> fed) {
		await("all is handled and committed", () -> haveHandled(fed));
	}

	private boolean haveHandled(Map<String, Long> fed) {
		Map<String, State> states = states();
		return fed.entrySet().stream().allMatch((entry) -> states.get(entry.getKey()).count() >= entry.getValue());
	}

	private static Map<String, Long> byName(Map<ShardId, Long> counts) {
		return counts.entrySet()
			.stream()
			.collect(Collectors.toMap((entry) -> Trace.name(entry.getKey()), Map.Entry::getValue));
	}

	/** Those of both sources. */
	private List<ShardId> shards() {
		return Stream
			.concat(IntStream.range(0, this.shards).mapToObj((shard) -> ShardId.of(TracingInstance.TOPIC, shard)),
					IntStream.range(0, this.partitions)
						.mapToObj((partition) -> ShardId.of(TracingInstance.KAFKA_TOPIC, partition)))
			.toList();
	}

	/** The committed state of every shard. */
	Map<String, State> states() {
		Map<String, State> states = new TreeMap<>();
		for (ShardId shard : shards()) {
			Map<String, String> state = this.checkpoints.read(shard).state();
			states.put(Trace.name(shard), new State(Long.parseLong(state.getOrDefault("sum", "0")),
					Long.parseLong(state.getOrDefault("count", "0"))));
		}
		return states;
	}

	private void await(String what, BooleanSupplier condition) {
		try {
			Awaitility.await(what)
				.atMost(LONGEST_WAIT)
				.pollInterval(Duration.ofMillis(100))
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.until(condition::getAsBoolean);
		}
		catch (ConditionTimeoutException ex) {
			GroupChanges group = this.store.readChanges(0, -1);
			throw new AssertionError("%s: not so after %s; leader %s, members %s, shards %s, states %s".formatted(what,
					LONGEST_WAIT, group.leader(), group.members(), group.ownerships(), states()), ex);
		}
	}

	@Override
	public void close() {
		this.feeder.close();
		this.kafkaFeeder.close();
		this.unreliable.close();
		this.sentOnce.close();
		this.booked.close();
		this.forwarded.close();
		this.reminded.close();
		this.store.close();
		this.checkpoints.close();
		this.connections.destroy();
	}

}
