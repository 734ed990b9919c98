package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.session.ViewStore.Reply;
import io.github.shardkeeper.cluster.session.ViewStoreContract;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

@OnEveryRedis
class RedisViewStoreTests extends ViewStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String name = UUID.randomUUID().toString();

	private final CoordinationStore group = new RedisCoordinationStore(RedisClients.sharedConnector(),
			RedisServer.PREFIX, this.name, TIMEOUT);

	private final ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), RedisServer.PREFIX, this.name,
			TIMEOUT, ReplicaWait.NONE);

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

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

	/** Otherwise two instances could have the same index in the same view. */
	@Test
	void otherMembersAreAnotherViewHoweverTheyCameToBe() {
		MemberId a = join("a");
		MemberId b = join("b");
		Reply before = views().read(a, "one");
		this.redis.opsForHash().delete(key("members"), b.value());

		Reply after = views().read(a, "two");

		assertThat(after.members()).hasSize(1);
		assertThat(after.number()).isGreaterThan(before.number());
		assertThat(views().read(a, "one")).isEqualTo(after);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "-5", "1.5", "0", "99999999999999999999" })
	void numberThatCannotBeReadIsReplaced(String value) {
		MemberId a = join("a");
		Reply before = views().read(a, "one");
		this.redis.opsForHash().put(key("cluster"), "view", value);

		Reply after = views().read(a, "one");

		assertThat(after.number()).isGreaterThan(before.number());
		assertThat(after.members()).isEqualTo(before.members());
	}

	@Test
	void numberThatIsMissingIsReplaced() {
		MemberId a = join("a");
		ViewStore views = views();
		Reply before = views.read(a, "one");
		this.redis.opsForHash().delete(key("cluster"), "view");

		assertThat(views.read(a, "one").number()).isGreaterThan(before.number());
	}

	private String key(String key) {
		return RedisServer.PREFIX + ":{" + this.name + "}:" + key;
	}

}
