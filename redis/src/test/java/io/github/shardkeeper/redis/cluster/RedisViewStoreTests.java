package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.UUID;

import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.session.ViewStoreContract;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

@OnEveryRedis
class RedisViewStoreTests extends ViewStoreContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

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

}
