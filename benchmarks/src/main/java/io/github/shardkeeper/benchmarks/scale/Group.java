package io.github.shardkeeper.benchmarks.scale;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * A group of light members in this process, on a few connections. Confined to the thread
 * that runs the benchmark.
 */
final class Group implements AutoCloseable {

	private static final String KEY_PREFIX = "shardkeeper";

	private static final String NAME = "large";

	private static final String TOPIC = "many";

	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	/** More than wait for Redis at once, unless a thousand beat together. */
	private static final int THREADS = 32;

	/** Shared by the clients of all connectors. */
	private final ClientResources threads = ClientResources.create();

	private final LettuceConnectionFactory factory;

	private final List<RedisConnector> connectors = new ArrayList<>();

	private final RedisClient client;

	private final List<CoordinationStore> stores = new ArrayList<>();

	private final List<SharedSubscriptions> subscriptions = new ArrayList<>();

	private final PooledLoops loops = new PooledLoops(THREADS);

	private final Costs costs;

	private final AtomicLong suspensions = new AtomicLong();

	private final ShardHolders board;

	/** In the order in which they came. */
	private final List<LightMember> members = new ArrayList<>();

	private final List<LightMember> frozen = new ArrayList<>();

	private final int shards;

	private int came;

	/**
	 * Creates a group without members.
	 * @param redis the port of its Redis
	 * @param connections the number of connections of each kind that its members share
	 * @param mostMembers the number of members that come at most
	 * @param costs receives the durations of heartbeats
	 */
	Group(int redis, int connections, int shards, int mostMembers, Costs costs) {
		this.shards = shards;
		this.costs = costs;
		this.board = new ShardHolders(shards, mostMembers);
		this.factory = new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", redis),
				LettuceClientConfiguration.builder().clientResources(this.threads).build());
		this.factory.afterPropertiesSet();
		this.factory.start();
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", redis));
		for (int i = 0; i < connections; i++) {
			RedisConnector connector = new RedisConnector(this.factory);
			this.connectors.add(connector);
			this.stores.add(new RedisCoordinationStore(connector, KEY_PREFIX, NAME, ANSWER_TIMEOUT));
			this.subscriptions.add(new SharedSubscriptions(this.client));
		}
	}

	String baseKey() {
		return KEY_PREFIX + ":{" + NAME + "}";
	}

	int size() {
		return this.members.size();
	}

	int shards() {
		return this.shards;
	}

	ShardHolders board() {
		return this.board;
	}

	/** Returns the number of leases that ended without a reply in time. */
	long suspensions() {
		return this.suspensions.get();
	}

	void join() {
		int number = this.came++;
		int connection = number % this.stores.size();
		CoordinationStore store = MemberStore.over(this.stores.get(connection), baseKey(),
				this.subscriptions.get(connection), this.costs);
		LightMember member = new LightMember(number, NAME, store, new Holdings(number, this.board, this.suspensions),
				new StickyAssignment(), this.loops, this.board);
		this.members.add(member);
		member.start(Map.of(TOPIC, TopicShards.count(this.shards)));
	}

	/**
	 * Takes a member out of the list; it is still to be made to go.
	 * @param leader whether it is to be the one that leads
	 */
	LightMember take(boolean leader) throws InterruptedException {
		long deadline = System.nanoTime() + PATIENCE.toNanos();
		while (this.members.stream().noneMatch(LightMember::leads)) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("There is no leader");
			}
			TimeUnit.MILLISECONDS.sleep(1);
		}
		LightMember taken = this.members.stream()
			.filter((member) -> member.leads() == leader)
			.findFirst()
			.orElseThrow();
		this.members.remove(taken);
		return taken;
	}

	/** It is closed with the group. */
	void keepFrozen(LightMember member) {
		this.frozen.add(member);
	}

	/**
	 * Fails if the store does not agree with the shards that members report, or a step of
	 * theirs has failed.
	 */
	void verify() {
		this.loops.verify();
		Map<MemberId, LightMember> known = new HashMap<>();
		this.members.forEach((member) -> known.put(member.id(), member));
		GroupChanges stored = this.stores.get(0).readChanges(0, -1);
		long agreed = stored.ownerships().stream().filter((ownership) -> agrees(ownership, known)).count();
		if (agreed != this.shards || this.board.violations() != 0) {
			throw new IllegalStateException("Members and store agree about %d of %d shards; %d were taken from an owner"
				.formatted(agreed, this.shards, this.board.violations()));
		}
	}

	private boolean agrees(Ownership ownership, Map<MemberId, LightMember> known) {
		LightMember owner = known.get(ownership.owner());
		return owner != null && this.board.holder(ShardId.number(ownership.shard().id())) == owner.number();
	}

	@Override
	public void close() {
		this.members.forEach(LightMember::close);
		this.frozen.forEach(LightMember::close);
		this.loops.close();
		this.stores.forEach(CoordinationStore::close);
		this.subscriptions.forEach(SharedSubscriptions::close);
		this.client.shutdown();
		this.connectors.forEach(RedisConnector::destroy);
		this.factory.destroy();
		this.threads.shutdown();
	}

}
