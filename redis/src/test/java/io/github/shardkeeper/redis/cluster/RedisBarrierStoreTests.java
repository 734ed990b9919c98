package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.barrier.BarrierStoreContract;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@OnEveryRedis
class RedisBarrierStoreTests extends BarrierStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String name = UUID.randomUUID().toString();

	private final CoordinationStore group = new RedisCoordinationStore(RedisClients.sharedConnector(),
			RedisServer.PREFIX, this.name, TIMEOUT);

	private final ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), RedisServer.PREFIX, this.name,
			TIMEOUT, ReplicaWait.NONE);

	@Override
	protected CoordinationStore group() {
		return this.group;
	}

	@Override
	protected ClusterMessages messages() {
		return this.link;
	}

	@Override
	protected StoreServer server() {
		return new RedisServer(this.name);
	}

	@Override
	protected ViewStore views() {
		return new RedisViewStore(this.link);
	}

	@Override
	protected BarrierStore barriers() {
		return new RedisBarrierStore(this.link);
	}

	@Test
	void entryThatSomebodyElseHasWrittenIsNamed() {
		MemberId a = join("a");
		StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());
		String key = "test:{" + this.name + "}:barriers";
		for (String value : List.of("yes", "E|0|2|0||someone")) {
			redis.opsForHash().put(key, "mine", value);

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> barriers().enter(new BarrierStore.Request(a, "mine", "x.1", 2, 0)))
				.withMessageContaining("the entry 'mine' of the key " + key)
				.withMessageContaining("'" + value + "'")
				.withMessageContaining("HDEL")
				.matches(StoreUnavailableException::isRefusal);
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> barriers().leave(a, "mine", "x.1", 7))
				.withMessageContaining("HDEL");
			assertThat(barriers().withdraw(a, "mine", "x.1", true)).isEqualTo(new BarrierStore.Withdrawn());
		}
		join("b");
		assertThat(views().read(a, "one").known()).isTrue();
		redis.opsForHash().delete(key, "mine");
		assertThat(barriers().enter(new BarrierStore.Request(a, "mine", "x.1", 1, 0)))
			.isInstanceOf(BarrierStore.Entered.class);
	}

	@Test
	void nothingButEndsRemainsOfARound() {
		MemberId a = join("a");
		StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());
		String base = "test:{" + this.name + "}:";
		long round = ((BarrierStore.Entered) barriers().enter(new BarrierStore.Request(a, "mine", "x.1", 1, 0)))
			.round();
		assertThat(redis.opsForHash().entries(base + "barriers")).containsKey("mine");

		barriers().leave(a, "mine", "x.1", round);

		assertThat(redis.hasKey(base + "barriers")).isFalse();
		assertThat(redis.opsForHash().entries(base + "barrierEnds")).containsOnly(Map.entry("mine|" + round, "over"));
	}

	@Test
	void endsOfLongAgoAreForgotten() {
		MemberId a = join("a");
		StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());
		String base = "test:{" + this.name + "}:";
		for (String old : List.of("old|1", "old|2", "old|3")) {
			redis.opsForHash().put(base + "barrierEnds", old, "over");
			redis.opsForZSet().add(base + "barrierEndTimes", old, 1000);
		}
		for (int i = 0; i < 2; i++) {
			String ticket = "x." + i;
			long round = ((BarrierStore.Entered) barriers().enter(new BarrierStore.Request(a, "mine", ticket, 1, 0)))
				.round();
			barriers().leave(a, "mine", ticket, round);
		}

		assertThat(redis.opsForHash().keys(base + "barrierEnds")).hasSize(2)
			.allMatch((entry) -> entry.toString().startsWith("mine|"));
		assertThat(redis.opsForZSet().zCard(base + "barrierEndTimes")).isEqualTo(2);
	}

}
