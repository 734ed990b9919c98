package io.github.shardkeeper.autoconfigure.client;

import java.util.Map;

/**
 * Customizes the properties of the Kafka clients that Shardkeeper opens: the consumer
 * that reads the shards of all topics, the producer and the admin client. Beans of this
 * type are called in their order, when the application starts. They begin with
 * {@code spring.kafka.*}, and do not change the application's own clients.
 * <p>
 * What Shardkeeper sets itself stays as it is, such as the settings of groups, commits
 * and serializers.
 */
@FunctionalInterface
public interface KafkaClientPropertiesCustomizer {

	/**
	 * Customizes the properties of a client.
	 * @param client the client
	 * @param properties its properties by their names in Kafka, to change
	 */
	void customize(Client client, Map<String, Object> properties);

	/**
	 * A client of Kafka.
	 */
	enum Client {

		/** Reads records. Deserializers are configured with its properties, too. */
		CONSUMER,

		/** Sends records. Serializers are configured with its properties, too. */
		PRODUCER,

		/** Reads topics, partitions and offsets. */
		ADMIN

	}

}
