package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * One of a shard's keys has another type.
 */
@OnEveryRedis
class MisplacedKeyTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private static final FailedRecord RECORD = new FailedRecord(new Offset("1"), "k", new byte[] { 1 }, Map.of(),
			Instant.EPOCH, 1, 0, "e", "s", Instant.EPOCH);

	private final String group = UUID.randomUUID().toString();

	private final String start = "test:{" + this.group + "/orders/1}:";

	private final StringRedisTemplate template = new StringRedisTemplate(RedisClients.sharedFactory());

	private final CheckpointStore store = new RedisCheckpointStore(RedisClients.sharedConnector(), "test", this.group,
			Duration.ofSeconds(60));

	private final DeadLetterStore letters = new RedisDeadLetterStore(RedisClients.sharedConnector(), "test", this.group,
			Duration.ofSeconds(60));

	private List<StoredDeadLetter> dead;

	@BeforeEach
	void fillAllKeys() {
		this.store.acquireNow(SHARD, TOKEN);
		assertThat(commit(1)).isEqualTo(CommitReply.COMMITTED);
		this.dead = this.letters.list(SHARD, null, 10);
		assertThat(this.template.keys(this.start + "*")).hasSize(6);
	}

	@AfterEach
	void close() {
		this.store.close();
		this.letters.close();
	}

	@ParameterizedTest
	@CsvSource({ "checkpoint, hash", "state, hash", "retry, zset", "retried, hash", "dead, stream", "timers, zset" })
	void keyOfAnotherTypeIsNamedAndNothingIsWritten(String kind, String expected) {
		String key = this.start + kind;
		this.template.rename(key, "aside:" + key);
		this.template.opsForList().rightPush(key, "mine");
		Map<String, String> before = dump();

		for (Runnable call : List.<Runnable>of(() -> this.store.acquireNow(SHARD, new Token(8)), () -> commit(2),
				() -> this.store.due(SHARD, 10, Long.MAX_VALUE, Set.of()), () -> this.store.waiting(SHARD, (record) -> {
					throw new AssertionError("Read: " + record);
				}), () -> this.store.retries(SHARD, List.of(new Offset("1-0")), Long.MAX_VALUE),
				() -> this.store.changeWaiting(SHARD, List.of(new Offset("1-0")), WaitingRecord.Change.DROP),
				() -> this.store.timers(SHARD, null, 10), () -> this.store.complete(SHARD, TOKEN, 0, 0),
				() -> this.letters.sendBack(SHARD, this.dead))) {
			assertThatThrownBy(call::run).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining("the key " + key + " holds a list, not the " + expected)
				.hasMessageContaining("RENAME")
				.hasMessageContaining("DEL");
		}
		assertThat(dump()).isEqualTo(before);

		this.template.delete(key);
		this.template.rename("aside:" + key, key);
		assertThat(commit(2)).as("when it was removed").isEqualTo(CommitReply.COMMITTED);
		assertThat(this.letters.sendBack(SHARD, this.dead)).isOne();
	}

	@Test
	void entryThatCannotBeReadIsNamedAndNothingIsWritten() {
		String key = this.start + "checkpoint";
		Object fence = this.template.opsForHash().get(key, "fence");
		this.template.opsForHash().put(key, "fence", "{\"broken\n");
		Map<String, String> before = dump();

		for (Runnable call : List.<Runnable>of(() -> this.store.acquireNow(SHARD, new Token(8)), () -> commit(2),
				() -> this.store.complete(SHARD, TOKEN, 0, 0))) {
			assertThatThrownBy(call::run).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining("cannot read an entry")
				.hasMessageContaining(key)
				.hasMessageContaining("DEL");
		}
		assertThat(dump()).isEqualTo(before);

		this.template.opsForHash().put(key, "fence", fence);
		assertThat(commit(2)).as("when it was restored").isEqualTo(CommitReply.COMMITTED);
	}

	@ParameterizedTest
	@CsvSource({ "ahead, {broken", "seek, x", "seek, 1 0", "sought, x" })
	void fieldThatCannotBeReadIsNamed(String field, String garbage) {
		this.template.opsForHash().put(this.start + "checkpoint", field, garbage);

		assertThatThrownBy(() -> this.store.acquireNow(SHARD, TOKEN)).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining("field '" + field + "'")
			.matches((failure) -> ((StoreUnavailableException) failure).isRefusal());

		this.template.opsForHash().delete(this.start + "checkpoint", field);
		assertThat(this.store.acquireNow(SHARD, TOKEN)).isInstanceOf(CheckpointStore.Acquisition.Acquired.class);
	}

	/**
	 * Operations on all shards return the others, and name the problem of this one.
	 */
	@Test
	void offsetsOfOtherShardsAreRead() {
		ShardId other = ShardId.of("orders", 2);
		this.store.acquireNow(other, TOKEN);
		this.store
			.commit(other, TOKEN,
					new Commit(CommitNumber.ofWhole(1), new Offset("7"), Set.of(), Map.of(), List.of(), Set.of(),
							List.of()))
			.orTimeout(1, TimeUnit.MINUTES)
			.join();
		String key = this.start + "checkpoint";
		this.template.delete(key);
		this.template.opsForValue().set(key, "mine");
		Map<ShardId, String> unreadable = new LinkedHashMap<>();

		assertThat(this.store.offsets(List.of(SHARD, other),
				(shard, failure) -> unreadable.put(shard, failure.getMessage())))
			.isEqualTo(Map.of(other, new Offset("7")));
		assertThat(unreadable).containsOnlyKeys(SHARD);
		assertThat(unreadable.get(SHARD)).contains(key, "another type", "RENAME", "DEL");
		assertThatThrownBy(() -> this.store.offsets(List.of(SHARD, other)))
			.isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining(key);
		assertThatThrownBy(() -> this.store.seeks(List.of(SHARD, other))).isInstanceOf(StoreUnavailableException.class)
			.hasMessageContaining(key);
	}

	@Test
	void errorsOfDeadLettersNameTheKey() {
		String key = this.start + "dead";
		this.template.delete(key);
		this.template.opsForValue().set(key, "mine");

		for (Runnable call : List.<Runnable>of(
				() -> this.letters.countDeadLetters(List.of(ShardId.of("orders", 2), SHARD)),
				() -> this.letters.list(SHARD, null, 10), () -> this.letters.drop(SHARD, this.dead))) {
			assertThatThrownBy(call::run).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining(key)
				.hasMessageContaining("RENAME")
				.hasMessageContaining("DEL");
		}
	}

	@ParameterizedTest
	@CsvSource({ "group, hash", "members, hash", "sessions, zset", "told, hash", "shards, hash", "changes, zset",
			"concerns, zset" })
	void controlPlaneNamesTheKey(String kind, String expected) {
		MemberId member = new MemberId("a~1");
		try (RedisCoordinationStore groups = new RedisCoordinationStore(RedisClients.sharedConnector(), "test",
				this.group, Duration.ofSeconds(10))) {
			groups.joinGroup(member, new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(4))),
					ApplicationVersion.UNKNOWN), Duration.ofMinutes(1), Duration.ofMinutes(1));
			long epoch = ((HeartbeatReply.Alive) groups.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE)).epoch();
			String key = "test:{" + this.group + "}:" + kind;
			this.template.delete(key);
			this.template.opsForList().rightPush(key, "mine");

			assertThatThrownBy(() -> {
				groups.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);
				groups.readChanges(0, -1);
				groups.applyPlan(member, epoch, List.of(new Transition.Assign(SHARD, 0, member)));
			}).isInstanceOf(StoreUnavailableException.class)
				.hasMessageStartingWith("Redis: the key " + key + " holds a list, not the " + expected
						+ " that belongs there; move it away with RENAME or remove it with DEL. If the original key is "
						+ "lost, the group is rebuilt once this key is removed");
		}
	}

	/** One change of each kind. */
	private CommitReply commit(int number) {
		try {
			return this.store
				.commit(SHARD, TOKEN,
						new Commit(CommitNumber.ofWhole(number), new Offset("o" + number), Set.of(new Offset("a")),
								Map.of("k", "v" + number), List.of(new Commit.Retry(RECORD, Duration.ZERO)), Set.of(),
								List.of(RECORD))
							.withTimers(Map.of(new TimerId("k", "t" + number), Instant.EPOCH)))
				.orTimeout(1, TimeUnit.MINUTES)
				.join();
		}
		catch (CompletionException ex) {
			throw (RuntimeException) ex.getCause();
		}
	}

	private Map<String, String> dump() {
		Map<String, String> values = new LinkedHashMap<>();
		this.template.keys(this.start + "*")
			.stream()
			.sorted()
			.forEach((key) -> values.put(key, new String(this.template.dump(key), StandardCharsets.ISO_8859_1)));
		return values;
	}

}
