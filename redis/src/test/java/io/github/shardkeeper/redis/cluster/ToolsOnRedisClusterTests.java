package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisCluster.SlotMigration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The slot of a group moves from node to node, or its master fails over, while instances
 * use all cluster tools: everything continues, in the same sessions, and nobody else gets
 * a lock that was held all the time.
 */
@Tag("proof")
class ToolsOnRedisClusterTests {

	private EmbeddedRedisCluster cluster;

	private final String group = UUID.randomUUID().toString();

	private final String key = ToolUser.PREFIX + ":{" + this.group + "}";

	private final List<ToolUser> users = new ArrayList<>();

	private LettuceConnectionFactory connections;

	private RedisConnector connector;

	private void start(EmbeddedRedisCluster started) {
		this.cluster = started;
		this.connections = RedisClients.factory(started);
		this.connector = new RedisConnector(this.connections);
		KnownGroup.begin(this.connector, ToolUser.PREFIX, this.group);
		for (String name : List.of("a", "b", "c")) {
			this.users.add(new ToolUser(this.connector, this.group, name));
		}
		this.users.forEach((user) -> user.awaitMembers(3));
	}

	@AfterEach
	void stop() {
		this.users.forEach(ToolUser::close);
		this.connector.stop();
		this.connections.destroy();
		this.cluster.close();
	}

	@Test
	void everythingContinuesWhileTheSlotOfTheGroupMoves() throws Exception {
		start(EmbeddedRedisCluster.start(3));
		held((traffic) -> {
			SlotMigration slow = this.cluster.beginMigration(this.key, this.cluster.mastersWithout(this.key).get(0));
			for (int i = 0; i < 4; i++) {
				slow.move(1);
			}
			pause(ToolUser.LEASE.multipliedBy(2));
			oneByOne(slow);
			traffic.awaitProgress();

			oneByOne(this.cluster.beginMigration(this.key, this.cluster.mastersWithout(this.key).get(1)));
		});
	}

	@Test
	void everythingContinuesAfterAFailover() throws Exception {
		start(EmbeddedRedisCluster.startWithReplicas(3));
		held((traffic) -> {
			this.cluster.killMasterOf(this.key);
			ToolUser.await().until(() -> this.cluster.masterOf(this.key).isPresent());
		});
	}

	/** Does something while a lock is held and others are acquired. */
	private void held(Disturbance disturbance) throws Exception {
		ToolUser holder = this.users.get(0);
		List<MemberId> members = this.users.stream().map(ToolUser::member).toList();
		CountDownLatch over = new CountDownLatch(1);
		CountDownLatch held = new CountDownLatch(1);
		CompletableFuture<Boolean> holding = holder.run(() -> {
			ClusterLock lock = holder.locks.get("held");
			lock.lock();
			held.countDown();
			over.await();
			boolean still = lock.isHeld();
			lock.unlock();
			return still;
		});
		held.await();
		ToolUser other = this.users.get(1);
		CompletableFuture<Boolean> waiting = other.run(() -> {
			other.locks.get("held").lock();
			return over.getCount() == 0;
		});
		ToolTraffic traffic = new ToolTraffic(this.users);
		try {
			traffic.awaitProgress();

			disturbance.apply(traffic);

			traffic.awaitProgress();
			over.countDown();
			assertThat(ToolUser.ended(holding)).as("held until the end").isTrue();
			assertThat(ToolUser.ended(waiting)).as("acquired after the release").isTrue();
			traffic.check();
		}
		finally {
			traffic.end();
		}
		assertThat(this.users.stream().map(ToolUser::member).toList()).isEqualTo(members);
	}

	private static void oneByOne(SlotMigration migration) {
		while (migration.move(1) > 0) {
			// Also moves keys that were written meanwhile.
		}
		migration.finish();
	}

	private static void pause(Duration length) {
		Awaitility.await().pollDelay(length).atMost(length.multipliedBy(10)).until(() -> true);
	}

	private interface Disturbance {

		void apply(ToolTraffic traffic);

	}

}
