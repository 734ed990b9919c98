package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.BeforeEach;

import io.github.shardkeeper.cluster.signal.ClusterSignalsContract;
import io.github.shardkeeper.cluster.signal.SignalStores;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

@OnEveryRedis
class RedisClusterSignalsTests extends ClusterSignalsContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final String group = UUID.randomUUID().toString();

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(RedisClients.sharedConnector(), "test", this.group);
	}

	@Override
	protected SignalStores openStores() {
		ClusterLink link = new ClusterLink(RedisClients.sharedConnector(), "test", this.group, TIMEOUT,
				ReplicaWait.NONE);
		return new SignalStores(new RedisCoordinationStore(RedisClients.sharedConnector(), "test", this.group, TIMEOUT),
				link, new RedisViewStore(link), new RedisSignalStore(link), link::close);
	}

}
