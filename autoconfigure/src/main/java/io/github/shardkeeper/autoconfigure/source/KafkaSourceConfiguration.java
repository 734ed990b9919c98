package io.github.shardkeeper.autoconfigure.source;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanInstantiationException;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.kafka.autoconfigure.SslBundleSslEngineFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.autoconfigure.client.KafkaClientPropertiesCustomizer;
import io.github.shardkeeper.autoconfigure.client.KafkaClientPropertiesCustomizer.Client;
import io.github.shardkeeper.autoconfigure.payload.ConverterSelection;
import io.github.shardkeeper.autoconfigure.payload.TopicPayloads;
import io.github.shardkeeper.autoconfigure.properties.KafkaSourceProperties;
import io.github.shardkeeper.autoconfigure.properties.KafkaSourceProperties.KafkaTopicProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.kafka.KafkaShardSource;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.record.DeserializedPayloads;
import io.github.shardkeeper.kafka.record.SerializedPayloads;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ResetPolicy;

/** Source {@code kafka}, reached with {@code spring.kafka.*}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnTopicSource("kafka")
public class KafkaSourceConfiguration {

	/** Keys under which Spring Boot passes an SSL bundle to Kafka's clients. */
	private static final String SSL_BUNDLE = SslBundle.class.getName();

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ KafkaShardSource.class, KafkaProperties.class, KafkaConsumer.class })
	static class WithSpringBootKafka {

		@Bean
		KafkaShardSource shardkeeperKafkaSource(SourceSelection selection, ShardkeeperProperties properties,
				ObjectProvider<KafkaProperties> kafka, ObjectProvider<KafkaConnectionDetails> details,
				ObjectProvider<KafkaClientPropertiesCustomizer> customizers,
				ObjectProvider<KafkaClientListener> listener) {
			KafkaSourceProperties source = properties.kafka();
			KafkaProperties clients = kafka.getIfAvailable();
			KafkaConnectionDetails connection = details.getIfUnique();
			if (clients == null || connection == null) {
				throw new ShardkeeperConfigurationException(
						"A topic has the source 'kafka', but there is no KafkaConnectionDetails bean, or none of several is primary.",
						"Do not exclude KafkaAutoConfiguration, which creates it from 'spring.kafka.*'. Mark one of several as @Primary.");
			}
			return new KafkaShardSource(
					new KafkaSourceSettings(topics(selection.topics("kafka"), source),
							consumer(clients, connection, customizers), producer(clients, connection, customizers),
							customized(Client.ADMIN, with(clients.buildAdminProperties(), connection.getAdmin()),
									customizers),
							requirePositive("refresh-interval", source.refreshInterval(), "5s"),
							ShardkeeperSettings.textOrNull(source.mirrorGroup()),
							requirePositive("long-transaction", source.longTransaction(), "2m")),
					listener.getIfAvailable(() -> KafkaClientListener.NONE));
		}

		@Bean
		TopicPayloads shardkeeperKafkaPayloads(SourceSelection selection, ShardkeeperProperties properties,
				KafkaProperties clients, KafkaConnectionDetails connection,
				ObjectProvider<KafkaClientPropertiesCustomizer> customizers, ConverterSelection converters) {
			KafkaSourceProperties source = properties.kafka();
			if (!source.deserializers() && !source.serializers()) {
				return new TopicPayloads(Set.of(), converters.otherwise(), List.of());
			}
			Map<String, KafkaTopic> topics = topics(selection.topics("kafka"), source);
			List<AutoCloseable> resources = new ArrayList<>();
			PayloadConverter own = converters.otherwise();
			if (source.deserializers()) {
				Map<String, Object> consumer = consumer(clients, connection, customizers);
				DeserializedPayloads reading = new DeserializedPayloads(() -> deserializer(consumer), own, topics);
				resources.add(reading);
				own = reading;
			}
			if (source.serializers()) {
				Map<String, Object> producer = producer(clients, connection, customizers);
				SerializedPayloads writing = new SerializedPayloads(serializer(producer), own, topics);
				resources.add(writing);
				own = writing;
			}
			return new TopicPayloads(topics.keySet(), own, resources);
		}

		private static Map<String, KafkaTopic> topics(Map<String, Topic> selected, KafkaSourceProperties source) {
			Map<String, KafkaTopic> topics = new LinkedHashMap<>();
			selected.forEach((name, topic) -> {
				ResetPolicy reset = topic.reset();
				topics.put(name, mapping(name, source.topics().get(name))
					.withReset((reset != null) ? reset : ResetPolicy.EARLIEST));
			});
			return topics;
		}

		private static KafkaTopic mapping(String topic, @Nullable KafkaTopicProperties properties) {
			String name = (properties != null) ? properties.name() : null;
			String pattern = (properties != null) ? properties.pattern() : null;
			if (pattern == null) {
				return KafkaTopic.named((name != null) ? name : topic);
			}
			String property = "shardkeeper.kafka.topics.%s.pattern".formatted(topic);
			if (name != null) {
				throw new ShardkeeperConfigurationException(
						"'%s' is set, and also 'shardkeeper.kafka.topics.%s.name'.".formatted(property, topic),
						"Remove one of them: a topic reads one Kafka topic, or all that match a pattern.");
			}
			try {
				return KafkaTopic.matching(Pattern.compile(pattern));
			}
			catch (PatternSyntaxException ex) {
				throw new ShardkeeperConfigurationException("'%s' is '%s', which is not a regular expression: %s."
					.formatted(property, pattern, ex.getDescription()), "Correct it, for example to 'orders\\..*'.",
						ex);
			}
		}

		private static Duration requirePositive(String property, Duration duration, String example) {
			if (duration.isNegative() || duration.isZero()) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.kafka.%s' is %s.".formatted(property, duration),
						"Set it to a positive duration, for example '%s'.".formatted(example));
			}
			return duration;
		}

		private static Map<String, Object> consumer(KafkaProperties clients, KafkaConnectionDetails connection,
				ObjectProvider<KafkaClientPropertiesCustomizer> customizers) {
			return customized(Client.CONSUMER, with(clients.buildConsumerProperties(), connection.getConsumer()),
					customizers);
		}

		private static Map<String, Object> producer(KafkaProperties clients, KafkaConnectionDetails connection,
				ObjectProvider<KafkaClientPropertiesCustomizer> customizers) {
			return customized(Client.PRODUCER, with(clients.buildProducerProperties(), connection.getProducer()),
					customizers);
		}

		private static Map<String, Object> customized(Client client, Map<String, Object> properties,
				ObjectProvider<KafkaClientPropertiesCustomizer> customizers) {
			customizers.orderedStream().forEach((customizer) -> customizer.customize(client, properties));
			return properties;
		}

		/** As Spring Boot does it for the application's own clients. */
		private static Map<String, Object> with(Map<String, Object> properties,
				KafkaConnectionDetails.Configuration connection) {
			Map<String, Object> all = new HashMap<>(properties);
			all.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, connection.getBootstrapServers());
			String protocol = connection.getSecurityProtocol();
			if (StringUtils.hasText(protocol)) {
				all.put(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, protocol);
			}
			SslBundle bundle = connection.getSslBundle();
			if (bundle != null) {
				all.put(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, SslBundleSslEngineFactory.class.getName());
				all.put(SSL_BUNDLE, bundle);
			}
			return all;
		}

		private static Deserializer<?> deserializer(Map<String, Object> consumer) {
			Deserializer<?> deserializer = create(Deserializer.class,
					consumer.get(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG), "consumer.value-deserializer",
					"deserializers");
			deserializer.configure(consumer, false);
			return deserializer;
		}

		private static Serializer<?> serializer(Map<String, Object> producer) {
			Serializer<?> serializer = create(Serializer.class,
					producer.get(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG), "producer.value-serializer",
					"serializers");
			serializer.configure(producer, false);
			return serializer;
		}

		private static <T> T create(Class<T> type, @Nullable Object configured, String property, String option) {
			try {
				Class<?> found = (configured instanceof Class<?> given) ? given
						: ClassUtils.forName(String.valueOf(configured), null);
				return type.cast(BeanUtils.instantiateClass(found));
			}
			catch (ClassNotFoundException | LinkageError | BeanInstantiationException | ClassCastException ex) {
				throw new ShardkeeperConfigurationException(
						"'spring.kafka.%s' is '%s', which cannot be created: %s.".formatted(property, configured,
								ex.getMessage()),
						"Correct it, or remove 'shardkeeper.kafka.%s'.".formatted(option), ex);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(KafkaShardSource.class)
	@ConditionalOnMissingClass("org.springframework.boot.kafka.autoconfigure.KafkaProperties")
	static class WithoutSpringBootKafka {

		@Bean
		KafkaShardSource shardkeeperKafkaSource() {
			throw new ShardkeeperConfigurationException(
					"A topic has the source 'kafka', but 'spring-boot-kafka' is not on the class path.",
					"Add the dependency 'org.springframework.boot:spring-boot-starter-kafka'.");
		}

	}

}
