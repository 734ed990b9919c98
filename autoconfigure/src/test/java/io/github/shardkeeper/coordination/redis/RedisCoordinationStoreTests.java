package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.CoordinationStoreContract;
import io.github.shardkeeper.coordination.StoreServer;
import io.github.shardkeeper.coordination.TestMember;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.Transition;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.testsupport.OnEveryRedis;
import io.github.shardkeeper.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisCoordinationStoreTests extends CoordinationStoreContract {

	private final String groupName = UUID.randomUUID().toString();

	@Override
	protected CoordinationStore createStore() {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.groupName,
				Duration.ofSeconds(10));
	}

	@Override
	protected StoreServer server() {
		return new RedisServer(this.groupName);
	}

	@Test
	void everyKeyHasTheGroupsHashTag() {
		group().join("a").lead();

		assertThat(new StringRedisTemplate(RedisClients.sharedFactory()).keys("test:*" + this.groupName + "*"))
			.isNotEmpty()
			.allMatch((key) -> key.startsWith("test:{" + this.groupName + "}:"));
	}

	@Test
	void aLargeGroupIsReadInStepsThatAreTold() {
		TestMember a = group().join("a").lead();
		a.plan(IntStream.range(0, 1_200)
			.mapToObj((i) -> new Transition.Assign(ShardId.of("many", i), 0, a.id()))
			.toArray(Transition[]::new));
		AtomicInteger steps = new AtomicInteger();

		assertThat(group().store().changes(0, -1, steps::incrementAndGet).ownerships()).hasSize(1_200);

		assertThat(steps).hasValue(3);
	}

	@Test
	void refusesAGroupOfAnotherFormat() {
		new StringRedisTemplate(RedisClients.sharedFactory()).opsForHash()
			.put("test:{" + this.groupName + "}:group", "format", "99");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> group().store()
				.join(MemberId.of("a", "1"), new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
						Duration.ofSeconds(3), Duration.ofSeconds(15)))
			.withMessageContaining("format 99")
			.withMessageContaining("shardkeeper.group");
	}

	@Test
	void tokensAreMicrosecondsOfRedisTime() {
		long before = Instant.now().minusSeconds(5).toEpochMilli() * 1000;
		long token = group().join("a").lead().assign(ShardId.of("orders", 1), group().join("b")).token().value();

		assertThat(token).isBetween(before, before + 60_000_000);
	}

}
