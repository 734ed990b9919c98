package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;

import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Opens connections with the Lettuce client behind Spring's connection factory, so that
 * addresses, credentials, TLS, Sentinel and Cluster are as {@code spring.data.redis.*}
 * says, while blocking reads and heartbeats share no connection with the application.
 * Thread-safe.
 */
public final class RedisConnector implements SmartLifecycle {

	/** Stops after the consumers, before the application's own client at phase 0. */
	private static final int PHASE = 1;

	private final LettuceConnectionFactory factory;

	private final ConnectionOpener opener = new ConnectionOpener();

	private final Set<StatefulConnection<?, ?>> connections = ConcurrentHashMap.newKeySet();

	private volatile boolean running;

	/**
	 * Creates a connector.
	 * @param factory the application's connection factory
	 * @throws ShardkeeperConfigurationException when it is not Lettuce's
	 */
	public RedisConnector(RedisConnectionFactory factory) {
		if (!(factory instanceof LettuceConnectionFactory lettuce)) {
			throw new ShardkeeperConfigurationException(
					"Shardkeeper needs the Lettuce client, but the RedisConnectionFactory bean is a %s."
						.formatted(factory.getClass().getName()),
					"Set 'spring.data.redis.client-type: lettuce', or define a LettuceConnectionFactory bean.");
		}
		this.factory = lettuce;
	}

	/** Whether keys are spread over the slots of a Redis Cluster. */
	public boolean isCluster() {
		return this.factory.isClusterAware();
	}

	/**
	 * Opens a connection; blocks until it stands.
	 * @param codec turns keys and values into bytes
	 * @param timeout the longest wait
	 * @param <V> the type of values
	 * @return the connection, to be closed by the caller
	 * @throws io.lettuce.core.RedisException when Redis cannot be reached in time
	 */
	public <V> Connection<V> open(RedisCodec<String, V> codec, Duration timeout) {
		return this.opener.open(() -> connect(codec), (late) -> close(late.stateful()), timeout);
	}

	/**
	 * Opens a connection for subscriptions; on a Cluster at the master of the channel's
	 * slot, where scripts that work on that slot can count its subscribers.
	 * @param channel the channel that it is for
	 * @param timeout the longest wait
	 * @return the connection, to be closed by the caller
	 * @throws io.lettuce.core.RedisException when Redis cannot be reached in time
	 */
	PubSubConnection openPubSub(String channel, Duration timeout) {
		return this.opener.open(() -> connectPubSub(channel), (late) -> close(late.toClose()), timeout);
	}

	private <V> Connection<V> connect(RedisCodec<String, V> codec) {
		AbstractRedisClient client = this.factory.getRequiredNativeClient();
		if (client instanceof RedisClusterClient cluster) {
			StatefulRedisClusterConnection<String, V> connection = opened(cluster.connect(codec));
			return new Connection<>(connection, connection.async());
		}
		StatefulRedisConnection<String, V> connection = opened(
				connectSingle(() -> ((RedisClient) client).connect(codec)));
		return new Connection<>(connection, connection.async());
	}

	private PubSubConnection connectPubSub(String channel) {
		AbstractRedisClient client = this.factory.getRequiredNativeClient();
		if (client instanceof RedisClusterClient cluster) {
			StatefulRedisClusterPubSubConnection<String, String> connection = opened(
					cluster.connectPubSub(StringCodec.UTF8));
			RedisClusterNode master = connection.getPartitions().getMasterBySlot(SlotHash.getSlot(channel));
			if (master == null) {
				close(connection);
				throw new RedisException("no master is known for the slot of " + channel);
			}
			StatefulRedisPubSubConnection<String, String> atMaster = connection.getConnection(master.getNodeId());
			return new PubSubConnection(connection, atMaster, atMaster.async());
		}
		StatefulRedisPubSubConnection<String, String> connection = opened(
				connectSingle(() -> ((RedisClient) client).connectPubSub(StringCodec.UTF8)));
		return new PubSubConnection(connection, connection, connection.async());
	}

	/** The client for static master/replica addresses is made without any of them. */
	private static <C> C connectSingle(Supplier<C> connect) {
		try {
			return connect.get();
		}
		catch (IllegalStateException ex) {
			if (!String.valueOf(ex.getMessage()).contains("RedisURI is not available")) {
				throw ex;
			}
			throw new ShardkeeperConfigurationException(
					"The RedisConnectionFactory has no address of a single Redis, a Sentinel or a Cluster: "
							+ ex.getMessage(),
					"Use 'spring.data.redis.host', 'url', 'sentinel.*' or 'cluster.*'; "
							+ "'spring.data.redis.masterreplica.*' is not supported.",
					ex);
		}
	}

	private <C extends StatefulConnection<?, ?>> C opened(C connection) {
		this.connections.add(connection);
		if (!isCluster()) {
			// The client would reconnect and send again what was not answered, long after
			// its
			// caller has given up. We open a new connection instead, and the caller
			// decides.
			connection.addListener(new RedisConnectionStateListener() {
				@Override
				public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
					close(connection);
				}
			});
		}
		return connection;
	}

	/**
	 * Closes a connection; does not wait. Harmless for one that was closed before.
	 * @param connection the connection
	 */
	public void close(StatefulConnection<?, ?> connection) {
		if (this.connections.remove(connection)) {
			connection.closeAsync();
		}
	}

	@Override
	public void start() {
		this.running = true;
	}

	/** Closes what is still open; whoever needs a connection later opens a new one. */
	@Override
	public void stop() {
		this.running = false;
		for (StatefulConnection<?, ?> connection : this.connections) {
			if (this.connections.remove(connection)) {
				// Waits: the client is shut down next, and would complain.
				connection.close();
			}
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * An open connection.
	 *
	 * @param stateful to configure and close it
	 * @param commands the commands that a single Redis and a Cluster both have
	 * @param <V> the type of values
	 */
	public record Connection<V>(StatefulConnection<String, V> stateful, RedisClusterAsyncCommands<String, V> commands) {

	}

	record PubSubConnection(StatefulConnection<String, String> toClose,
			StatefulRedisPubSubConnection<String, String> connection,
			RedisPubSubAsyncCommands<String, String> commands) {

	}

}
