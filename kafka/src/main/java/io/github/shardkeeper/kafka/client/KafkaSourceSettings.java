package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Settings of a {@code KafkaShardSource}. Immutable.
 *
 * @param topics by topic the Kafka topics that it reads
 * @param consumer the application's properties of Kafka consumers. Settings of groups,
 * commits, offset reset and deserializers have no effect
 * @param producer the application's properties of Kafka producers. Serializers and
 * {@code transactional.id} have no effect
 * @param admin the application's properties of Kafka admin clients
 * @param refreshInterval the interval at which topics and partitions are read
 * @param mirrorGroup the Kafka group whose offsets are set to those of the checkpoints,
 * {@code null} for none
 * @param longTransaction the time for which an open transaction may hold up a partition,
 * if consumers read committed records only; after that its shard has a problem
 */
public record KafkaSourceSettings(Map<String, KafkaTopic> topics, Map<String, Object> consumer,
		Map<String, Object> producer, Map<String, Object> admin, Duration refreshInterval, @Nullable String mirrorGroup,
		Duration longTransaction) {

	/** Default interval at which topics and partitions are read. */
	public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

	/**
	 * Default time for which an open transaction may hold up a partition. Longer than
	 * brokers, by default, leave the transaction of a producer that died open.
	 */
	public static final Duration LONG_TRANSACTION = Duration.ofMinutes(2);

	/**
	 * Short, because a partition that is added or resumed waits for the fetch that is
	 * under way at its broker.
	 */
	private static final int FETCH_MAX_WAIT_MILLIS = 100;

	private static final int MAX_POLL_RECORDS = 2000;

	private static final int DEFAULT_MAX_REQUEST_SIZE = 1024 * 1024;

	private static final int MAX_BLOCK_MILLIS = 10_000;

	/** The reader belongs to no group, and its positions are those of the checkpoints. */
	private static final List<String> GROUP_PROPERTIES = List.of(ConsumerConfig.GROUP_ID_CONFIG,
			ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, ConsumerConfig.GROUP_PROTOCOL_CONFIG,
			ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG, ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
			ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG);

	public KafkaSourceSettings {
		topics = Map.copyOf(topics);
		consumer = Map.copyOf(consumer);
		producer = Map.copyOf(producer);
		admin = Map.copyOf(admin);
		Objects.requireNonNull(refreshInterval, "refreshInterval must not be null");
		Objects.requireNonNull(longTransaction, "longTransaction must not be null");
		requireDistinct(topics);
	}

	private static void requireDistinct(Map<String, KafkaTopic> topics) {
		Map<String, String> readers = new TreeMap<>();
		new TreeMap<>(topics).forEach((topic, mapping) -> {
			String name = mapping.name();
			String other = (name != null) ? readers.putIfAbsent(name, topic) : null;
			if (other != null) {
				throw new ShardkeeperConfigurationException(
						"The topics '%s' and '%s' both read the Kafka topic '%s'.".formatted(other, topic, name),
						"Correct 'shardkeeper.kafka.topics.%s.name', or read it twice with two groups."
							.formatted(topic));
			}
		});
	}

	/**
	 * Creates settings with the same client properties for all clients.
	 * @param topics by topic the Kafka topics that it reads
	 * @param client the properties, at least {@code bootstrap.servers}
	 * @return the settings
	 */
	public static KafkaSourceSettings of(Map<String, KafkaTopic> topics, Map<String, Object> client) {
		return new KafkaSourceSettings(topics, client, client, client, REFRESH_INTERVAL, null, LONG_TRANSACTION);
	}

	/** Properties of the consumer that reads all shards; the suffix is of its id. */
	public Map<String, Object> readerProperties(String suffix) {
		Map<String, Object> properties = new HashMap<>(this.consumer);
		GROUP_PROPERTIES.forEach(properties::remove);
		properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
		properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
		properties.putIfAbsent(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, FETCH_MAX_WAIT_MILLIS);
		properties.putIfAbsent(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, MAX_POLL_RECORDS);
		return withClientId(properties, "shardkeeper-reader" + suffix);
	}

	public Map<String, Object> senderProperties(String suffix) {
		Map<String, Object> properties = new HashMap<>(this.producer);
		properties.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
		properties.remove(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
		properties.remove(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
		properties.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MILLIS);
		return withClientId(properties, "shardkeeper-sender" + suffix);
	}

	/** The id of the client with these properties, by which brokers know it. */
	public static String clientId(Map<String, Object> properties) {
		return String.valueOf(properties.get(CommonClientConfigs.CLIENT_ID_CONFIG));
	}

	public Map<String, Object> adminProperties(String suffix) {
		Map<String, Object> properties = new HashMap<>(this.admin);
		// A broker that hangs would be asked for that long. Kafka requires that the time
		// for a call is not shorter.
		properties.putIfAbsent(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
				(int) Math.min(KafkaAdmin.TIMEOUT.toMillis(), number(this.admin,
						AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, KafkaAdmin.TIMEOUT.toMillis(), "admin")));
		properties.putIfAbsent(AdminClientConfig.METADATA_MAX_AGE_CONFIG, (int) KafkaAdmin.METADATA_AGE.toMillis());
		return withClientId(properties, "shardkeeper-admin" + suffix);
	}

	/** Distinct ids, because the application's own clients may use its own. */
	private static Map<String, Object> withClientId(Map<String, Object> properties, String suffix) {
		Object id = properties.get(CommonClientConfigs.CLIENT_ID_CONFIG);
		properties.put(CommonClientConfigs.CLIENT_ID_CONFIG,
				(id == null || id.toString().isEmpty()) ? suffix : id + "-" + suffix);
		return properties;
	}

	public IsolationLevel isolationLevel() {
		Object level = this.consumer.get(ConsumerConfig.ISOLATION_LEVEL_CONFIG);
		return (level != null && level.toString().equalsIgnoreCase("read_committed")) ? IsolationLevel.READ_COMMITTED
				: IsolationLevel.READ_UNCOMMITTED;
	}

	/** The longest time that a broker may hold back the reply to a fetch. */
	public Duration fetchWait() {
		return Duration.ofMillis(number(readerProperties(""), ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
				FETCH_MAX_WAIT_MILLIS, "consumer"));
	}

	/** The size of the largest request to append records, in bytes. */
	public long maxRequestSize() {
		return number(this.producer, ProducerConfig.MAX_REQUEST_SIZE_CONFIG, DEFAULT_MAX_REQUEST_SIZE, "producer");
	}

	private static long number(Map<String, Object> properties, String name, long fallback, String client) {
		Object value = properties.get(name);
		if (value == null) {
			return fallback;
		}
		try {
			return Long.parseLong(value.toString().strip());
		}
		catch (NumberFormatException ex) {
			throw new ShardkeeperConfigurationException(
					"The property '%s' of Kafka's %s is '%s', which is not a number.".formatted(name, client, value),
					"Correct it in 'spring.kafka.%s.*' or 'spring.kafka.properties', or remove it.".formatted(client),
					ex);
		}
	}

	/** Without the properties of clients, which contain credentials. */
	@Override
	public String toString() {
		return "KafkaSourceSettings[servers=%s, topics=%s, refreshInterval=%s, mirrorGroup=%s]".formatted(servers(),
				this.topics, this.refreshInterval, this.mirrorGroup);
	}

	/** Addresses for messages. */
	public String servers() {
		Object servers = this.admin.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
		if (servers instanceof Collection<?> several) {
			return String.join(",", several.stream().map(String::valueOf).toList());
		}
		return String.valueOf(servers);
	}

}
