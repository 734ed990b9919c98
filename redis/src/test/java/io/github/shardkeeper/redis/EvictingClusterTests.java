package io.github.shardkeeper.redis;

import java.time.Duration;
import java.time.InstantSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;

/** On a Cluster, one master that evicts is enough to lose keys. */
@Tag("proof")
class EvictingClusterTests {

	@Test
	void everyMasterIsChecked() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start(3)) {
			LettuceConnectionFactory factory = RedisClients.factory(cluster);
			RedisConnector connector = new RedisConnector(factory);
			try {
				ServerCheck check = new ServerCheck(connector, InstantSource.system(), Duration.ofHours(1));
				check.check();
				assertThat(check.eviction()).isNull();
				for (EmbeddedRedis node : cluster.mastersWithout("any")) {
					set(node, "maxmemory", "100mb");
					set(node, "maxmemory-policy", "allkeys-lfu");

					check.check();

					assertThat(check.eviction()).isNotNull()
						.satisfies((eviction) -> assertThat(eviction.problem()).contains("1 of 3 masters"));
					set(node, "maxmemory-policy", "noeviction");
				}
			}
			finally {
				connector.destroy();
				factory.destroy();
			}
		}
	}

	private static void set(EmbeddedRedis node, String parameter, String value) {
		node.call((commands) -> commands.configSet(parameter, value));
	}

}
