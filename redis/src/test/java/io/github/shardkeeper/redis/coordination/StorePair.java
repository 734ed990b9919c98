package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.coordination.memory.MemoryServer;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.Subscription;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.redis.checkpoint.RedisDataServer;
import io.github.shardkeeper.redis.testsupport.RedisKeys;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The same group in memory and on Redis, by the same clock: whatever is done to it is
 * done to both and must come to the same, replies, notifications and what is known
 * afterwards. Confined to the test's thread.
 */
final class StorePair implements AutoCloseable {

	/** So small that every limit is reached. */
	private static final int BATCH = 4;

	private final MemoryServer memoryServer = new MemoryServer(BATCH);

	private final MemoryCheckpointStore memoryCheckpoints = new MemoryCheckpointStore(() -> this.now);

	private final DeadLetterStore memoryLetters = new MemoryDeadLetterStore(this.memoryCheckpoints);

	private final RedisSettableClock redisServer;

	private final CoordinationStore redis;

	private final CheckpointStore redisCheckpoints;

	private final DeadLetterStore redisLetters;

	private final RedisKeys redisCheckpointKeys;

	private final NotificationObserver redisNotifications;

	private final Set<String> memoryNotifications = new LinkedHashSet<>();

	private final Map<MemberId, List<Subscription>> subscriptions = new LinkedHashMap<>();

	private Instant now = Instant.parse("2026-01-01T00:00:00Z");

	private GroupChanges known = new GroupChanges(null, 0, 0, -1, null, List.of());

	StorePair(String group) {
		this.redisServer = new RedisSettableClock(group, this.now);
		this.redis = this.redisServer.store(BATCH);
		this.redisCheckpoints = RedisDataServer.store(group);
		this.redisLetters = RedisDataServer.letters(group);
		this.redisCheckpointKeys = new RedisKeys(RedisServer.PREFIX + ":{" + group + "/");
		this.redisNotifications = new NotificationObserver(RedisServer.PREFIX + ":{" + group + "}");
	}

	long nowMillis() {
		return this.now.toEpochMilli();
	}

	void moveClock(Duration duration) {
		this.now = this.now.plus(duration);
		this.memoryServer.setTime(this.now);
		this.redisServer.setTime(this.now);
	}

	<T> T control(Function<CoordinationStore, T> operation) {
		T inMemory = operation.apply(this.memoryServer.store());
		assertThat(operation.apply(this.redis)).as("reply of Redis").isEqualTo(inMemory);
		assertSameNotifications();
		assertSameChanges(this.known.generation(), this.known.membership());
		return inMemory;
	}

	<T> T data(Function<CheckpointStore, T> operation) {
		T inMemory = operation.apply(this.memoryCheckpoints);
		assertThat(operation.apply(this.redisCheckpoints)).as("reply of Redis").isEqualTo(inMemory);
		return inMemory;
	}

	/**
	 * The ids of letters are not the same in both, and must not be part of the reply.
	 */
	<T> T letters(Function<DeadLetterStore, T> operation) {
		T inMemory = operation.apply(this.memoryLetters);
		assertThat(operation.apply(this.redisLetters)).as("reply of Redis").isEqualTo(inMemory);
		return inMemory;
	}

	/** Returns the group, read whole. */
	GroupChanges all() {
		return assertSameChanges(0, -1);
	}

	private GroupChanges assertSameChanges(long generation, long membership) {
		GroupChanges inMemory = this.memoryServer.store().readChanges(generation, membership);
		assertThat(this.redis.readChanges(generation, membership)).as("group on Redis").isEqualTo(inMemory);
		this.known = inMemory;
		return inMemory;
	}

	/** The memory store tells only those who are subscribed. */
	private void assertSameNotifications() {
		Set<String> heard = this.redisNotifications.heard();
		heard.removeIf((member) -> !this.subscriptions.containsKey(new MemberId(member)));
		assertThat(heard).as("notifications of Redis").containsExactlyElementsOf(this.memoryNotifications);
		this.memoryNotifications.clear();
	}

	int subscriptions(MemberId member) {
		return this.subscriptions.getOrDefault(member, List.of()).size() / 2;
	}

	void subscribe(MemberId member) {
		List<Subscription> open = this.subscriptions.computeIfAbsent(member, (id) -> new ArrayList<>());
		open.add(this.memoryServer.store().subscribe(member, () -> this.memoryNotifications.add(member.value())));
		open.add(this.redis.subscribe(member, () -> {
		}));
		this.redisNotifications.awaitSubscriptions(member.value(), subscriptions(member));
	}

	void closeSubscription(MemberId member) {
		List<Subscription> open = this.subscriptions.get(member);
		open.remove(0).close();
		open.remove(0).close();
		this.redisNotifications.awaitSubscriptions(member.value(), subscriptions(member));
		if (open.isEmpty()) {
			this.subscriptions.remove(member);
		}
	}

	List<Object> snapshot() {
		return List.of(this.memoryServer.snapshot(), this.redisServer.snapshot(),
				MemoryFailover.snapshot(this.memoryCheckpoints), this.redisCheckpointKeys.snapshot());
	}

	void loseWritesSince(List<Object> snapshot) {
		this.memoryServer.loseWritesSince(snapshot.get(0));
		this.redisServer.loseWritesSince(snapshot.get(1));
		MemoryFailover.loseWritesSince(this.memoryCheckpoints, snapshot.get(2));
		this.redisCheckpointKeys.restore(snapshot.get(3));
		all();
	}

	void empty() {
		this.memoryServer.empty();
		this.redisServer.empty();
		MemoryFailover.empty(this.memoryCheckpoints);
		this.redisCheckpointKeys.delete();
		all();
	}

	@Override
	public void close() {
		this.subscriptions.values().forEach((open) -> open.forEach(Subscription::close));
		this.redisNotifications.close();
		this.redis.close();
		this.redisCheckpoints.close();
		this.redisLetters.close();
	}

}
