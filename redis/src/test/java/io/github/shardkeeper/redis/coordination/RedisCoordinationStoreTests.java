package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.lettuce.core.codec.StringCodec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStoreContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.coordination.store.TestGroup;
import io.github.shardkeeper.coordination.store.TestMember;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract in real time. On every Redis, {@link RedisSettableClockTests} run it by
 * another clock, and {@link FullRedisCoordinationStoreTests} in real time.
 */
@Tag("proof")
class RedisCoordinationStoreTests extends CoordinationStoreContract {

	private final String groupName = UUID.randomUUID().toString();

	@Override
	protected CoordinationStore createStore() {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.groupName,
				Duration.ofSeconds(60));
	}

	@Override
	protected StoreServer server() {
		return new RedisServer(this.groupName);
	}

	@Test
	@OnEveryRedis
	void everyKeyHasTheHashTagOfTheGroup() {
		group().join("a").lead();

		assertThat(new StringRedisTemplate(RedisClients.sharedFactory()).keys("test:*" + this.groupName + "*"))
			.isNotEmpty()
			.allMatch((key) -> key.startsWith("test:{" + this.groupName + "}:"));
	}

	@Test
	@OnEveryRedis
	void largeGroupIsReadInReportedSteps() {
		TestMember a = group().join("a").lead();
		a.plan(IntStream.range(0, 1_200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of("many", i), 0, a.id()))
			.toArray(Transition[]::new));
		AtomicInteger steps = new AtomicInteger();

		assertThat(group().store().readChanges(0, -1, steps::incrementAndGet).ownerships()).hasSize(1_200);

		assertThat(steps).hasValue(3);
	}

	@Test
	@OnEveryRedis
	void shardForgottenDuringAReadIsNotReturned() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.plan(IntStream.range(0, 1_200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of((i % 2 == 0) ? "many" : "past", i), 0,
					((i % 2 == 0) ? a : b).id()))
			.toArray(Transition[]::new));
		b.leave();
		AtomicInteger steps = new AtomicInteger();

		GroupChanges read = group().store().readChanges(0, -1, () -> {
			if (steps.incrementAndGet() == 2) {
				assertThat(group().store().forgetShards("past").forgotten()).isEqualTo(600);
			}
		});

		assertThat(read).isEqualTo(group().all());
		assertThat(read.ownerships()).hasSize(600).extracting((shard) -> shard.shard().topic()).containsOnly("many");
	}

	@Test
	@OnEveryRedis
	void noEntryNamesAForgottenShard() {
		TestMember a = group().join("a").lead();
		a.assign(ShardId.of("orders", 1), a);
		a.assign(ShardId.of("past", 1), a);
		StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());
		assertThat(entries(redis)).contains("past/1");
		a.release(ShardId.of("past", 1), Duration.ZERO);

		group().store().forgetShards("past");

		assertThat(entries(redis)).contains("orders/1").doesNotContain("past/1");
	}

	private String entries(StringRedisTemplate redis) {
		String base = "test:{" + this.groupName + "}:";
		return redis.opsForHash().entries(base + "shards") + " "
				+ redis.opsForZSet().rangeWithScores(base + "changes", 0, -1) + " "
				+ redis.opsForZSet().range(base + "concerns", 0, -1) + " "
				+ redis.opsForHash().entries(base + "concernsAt");
	}

	/** Between the look at the group and the step that forgets. */
	@Test
	@OnEveryRedis
	void shardConsumedMeanwhileIsNotForgotten() {
		TestMember a = group().join("a").lead();
		ShardId past = ShardId.of("past", 1);
		a.assign(past, a);
		a.release(past, Duration.ZERO);
		try (RedisLink<String> link = new RedisLink<>(RedisClients.sharedConnector(), StringCodec.UTF8,
				Duration.ofSeconds(10))) {
			String seen = Long.toString(group().all().membership());
			TestMember b = group().join("b");
			assertThat(runForget(link, seen, past)).as("a member more").containsExactly("CHANGED");

			seen = Long.toString(group().all().membership());
			a.assign(past, b);
			assertThat(runForget(link, seen, past)).as("an owner").containsExactly("CHANGED");

			a.revoke(past, a);
			b.release(past, TestGroup.LONG);
			assertThat(runForget(link, seen, past)).as("a target that it moves to").containsExactly("CHANGED");
			assertThat(group().shard(past).target()).isEqualTo(a.id());
		}
	}

	private List<Object> runForget(RedisLink<String> link, String seenMembership, ShardId shard) {
		return link.run(ControlScripts.STANDARD.forgetShards(), GroupKeys.names("test:{" + this.groupName + "}"),
				List.of(seenMembership, shard.toString()));
	}

	@Test
	@OnEveryRedis
	void unreadableShardIsForgottenOnlyAfterARebuild() {
		TestMember a = group().join("a").lead();
		a.assign(ShardId.of("past", 1), a);
		a.release(ShardId.of("past", 1), Duration.ZERO);
		new StringRedisTemplate(RedisClients.sharedFactory()).opsForHash()
			.put("test:{" + this.groupName + "}:shards", "past/1", "junk");

		for (int attempt = 0; attempt < 2; attempt++) {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> group().store().forgetShards("past"))
				.withMessageContaining("past/1");
		}
		TestMember b = group().join("b").lead();
		b.endsClaims();
		assertThat(group().store().forgetShards("past").users()).isEmpty();
		assertThat(b.beat().subscribed()).isTrue();
	}

	@Test
	@OnEveryRedis
	@Promise("Clear errors")
	void groupOfAnotherFormatIsRefused() {
		new StringRedisTemplate(RedisClients.sharedFactory()).opsForHash()
			.put("test:{" + this.groupName + "}:group", "format", "99");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> group().store()
				.joinGroup(MemberId.of("a", "1"), new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
						Duration.ofSeconds(3), Duration.ofSeconds(15)))
			.withMessageContaining("format 99")
			.withMessageContaining("shardkeeper.group");
	}

	@Test
	@OnEveryRedis
	@Promise("Tokens never repeat")
	void tokensAreMicrosecondsOfRedisTime() {
		long before = Instant.now().minusSeconds(5).toEpochMilli() * 1000;
		long token = group().join("a").lead().assign(ShardId.of("orders", 1), group().join("b")).token().value();

		assertThat(token).isBetween(before, before + 60_000_000);
	}

}
