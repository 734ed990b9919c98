package io.github.shardkeeper.testsupport;

import java.time.Duration;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The failovers of the tests are real ones.
 */
class TestFailoverTests {

	@Test
	void sentinelsMakeTheReplicaTheMaster() {
		try (TestRedisSentinel redis = TestRedisSentinel.start(1)) {
			TestRedis replica = redis.replicas().get(0);
			redis.master().call((commands) -> commands.set("a", "1"));
			TestRedis killed = redis.killMaster();
			redis.awaitMasterOtherThan(killed);

			assertThat(redis.master()).isSameAs(replica);
			assertThat(get(replica)).isEqualTo("1");
		}
	}

	@Test
	void aClusterFailsOverAndBack() {
		try (TestRedisCluster cluster = TestRedisCluster.startWithReplicas(3)) {
			TestRedis first = cluster.masterOf("a").orElseThrow();
			first.call((commands) -> commands.set("a", "1"));
			cluster.killMasterOf("a");
			Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> cluster.masterOf("a").isPresent());
			TestRedis second = cluster.masterOf("a").orElseThrow();
			assertThat(second).isNotSameAs(first);
			assertThat(get(second)).isEqualTo("1");

			cluster.restore();
			cluster.switchMasterOf("a");
			assertThat(cluster.masterOf("a")).isEqualTo(Optional.of(first));
			assertThat(get(first)).isEqualTo("1");
		}
	}

	private static String get(TestRedis redis) {
		return redis.call((commands) -> commands.get("a"));
	}

}
