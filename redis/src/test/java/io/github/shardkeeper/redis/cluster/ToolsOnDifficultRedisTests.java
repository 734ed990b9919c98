package io.github.shardkeeper.redis.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Instances with cluster tools on a Redis that has no memory left, and on one that
 * refuses their messages.
 */
@OnEveryRedis
@Tag("proof")
class ToolsOnDifficultRedisTests {

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory-policy", "noeviction");

	private final LettuceConnectionFactory connections = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.connections);

	private final String group = UUID.randomUUID().toString();

	private final List<ToolUser> users = new ArrayList<>();

	@BeforeEach
	void start() {
		KnownGroup.begin(this.connector, ToolUser.PREFIX, this.group);
		user("a");
		user("b");
		this.users.forEach((user) -> user.awaitMembers(2));
	}

	@AfterEach
	void stop() {
		this.users.forEach(ToolUser::close);
		this.connector.stop();
		this.connections.destroy();
		this.redis.close();
	}

	private ToolUser user(String name) {
		ToolUser user = new ToolUser(this.connector, this.group, name);
		this.users.add(user);
		return user;
	}

	@Test
	void everythingContinuesAtMaxmemory() throws Exception {
		ToolTraffic traffic = new ToolTraffic(List.copyOf(this.users));
		try {
			traffic.awaitProgress();

			this.redis.call((commands) -> commands.configSet("maxmemory", "1"));

			assertThatExceptionOfType(RedisCommandExecutionException.class)
				.isThrownBy(() -> this.redis.call((commands) -> commands.set("key", "value")))
				.withMessageContaining("OOM");
			traffic.awaitProgress();
			traffic.check();
		}
		finally {
			traffic.end();
		}
		ToolUser third = user("c").awaitMembers(3);
		assertThat(third.signal("from the third").handled()).hasSize(3);
		third.lock.lock();
		third.leave();
		this.users.get(0).awaitMembers(2);
		this.users.get(0).lock.lock();
	}

	@Test
	void lockIsHandedOverAlthoughMessagesAreRefused() throws Exception {
		ToolUser a = this.users.get(0);
		ToolUser b = this.users.get(1);
		CountDownLatch refused = new CountDownLatch(1);
		CountDownLatch held = new CountDownLatch(1);
		CompletableFuture<Void> holding = a.run(() -> {
			a.lock.lock();
			held.countDown();
			refused.await();
			a.lock.unlock();
			return null;
		});
		held.await();
		CompletableFuture<Void> waiting = b.run(() -> {
			b.lock.lock();
			return null;
		});
		String waiters = ToolUser.PREFIX + ":{" + this.group + "}:lockWaiters";
		ToolUser.await().until(() -> this.redis.<Long>call((commands) -> commands.exists(waiters)) == 1);

		acl(AclSetuserArgs.Builder.resetChannels().channelPattern(ToolUser.PREFIX + ":{" + this.group + "}:member:*"));
		this.redis.call((commands) -> commands.clientKill(KillArgs.Builder.typePubsub()));
		for (ToolUser user : this.users) {
			ToolUser.await()
				.until(() -> user.session.problem().orElse("").contains("lacks the right &" + ToolUser.PREFIX + ":*"));
		}
		refused.countDown();

		ToolUser.ended(holding);
		ToolUser.ended(waiting);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> a.parameter.set(1))
			.withMessageContaining("lacks the right &" + ToolUser.PREFIX + ":*");
		acl(AclSetuserArgs.Builder.allChannels());
		for (ToolUser user : this.users) {
			ToolUser.await().until(() -> user.session.problem().isEmpty());
		}
		assertThat(a.signal("again").handled()).hasSize(2);
	}

	private void acl(AclSetuserArgs rule) {
		this.redis.call((commands) -> commands.aclSetuser("default", rule));
	}

}
