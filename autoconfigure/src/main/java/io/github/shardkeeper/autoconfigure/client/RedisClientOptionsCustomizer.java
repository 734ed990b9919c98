package io.github.shardkeeper.autoconfigure.client;

import io.lettuce.core.ClientOptions;

/**
 * Customizes the options of the Lettuce client that Shardkeeper opens its connections
 * with. Beans of this type are called in their order, each time such a client is created,
 * on the thread that needs it. They begin with the options of the application's client,
 * which they do not change. Must be thread-safe; an exception fails the connection.
 * <p>
 * What is <em>not</em> subject to options: time limits of replies, and that a lost
 * connection to a single Redis is closed instead of reconnected. Startup fails if
 * Shardkeeper has to use the application's client, because its connection factory is a
 * subclass of {@code LettuceConnectionFactory}.
 */
@FunctionalInterface
public interface RedisClientOptionsCustomizer {

	/**
	 * Customizes the options.
	 * @param options the options; on a Cluster a
	 * {@link io.lettuce.core.cluster.ClusterClientOptions.Builder}, if those of the
	 * application are
	 */
	void customize(ClientOptions.Builder options);

}
