package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.TopicExistsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import io.github.shardkeeper.sample.VisitCounter;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Provides a Kafka with the topic, if the topic's source is Kafka and
 * {@code spring.kafka.bootstrap-servers} names none: uses the Kafka that listens on
 * {@code sample.kafka.port} (9092 unless set), or has a {@link KafkaKeeper} start one
 * there.
 * <p>
 * A connection stays open for as long as this process lives. It tells the keeper, even
 * after {@code kill -9}, whether Kafka is still needed.
 */
final class LocalKafka implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(LocalKafka.class);

	private static final String SOURCE = "shardkeeper.topics." + VisitCounter.TOPIC + ".source";

	private static final int DEFAULT_PORT = 9092;

	/** As long as a Kafka needs that another instance is just starting. */
	private static final int ANSWER_MILLIS = 30_000;

	private final int replyMillis;

	/** Held, because the garbage collector would close it. */
	private @Nullable Socket connection;

	LocalKafka() {
		this(ANSWER_MILLIS);
	}

	LocalKafka(int replyMillis) {
		this.replyMillis = replyMillis;
	}

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		Integer wanted = environment.getProperty("sample.kafka.port", Integer.class);
		if (!"kafka".equals(environment.getProperty(SOURCE))
				|| wanted == null && environment.containsProperty("spring.kafka.bootstrap-servers")) {
			return;
		}
		int port = (wanted != null) ? wanted : DEFAULT_PORT;
		this.connection = connectOrStart(port);
		String address = "127.0.0.1:" + port;
		createTopic(port, address, environment.getRequiredProperty("sample.kafka.partitions", Integer.class));
		environment.getPropertySources()
			.addFirst(new MapPropertySource("sampleKafka", Map.of("spring.kafka.bootstrap-servers", address)));
	}

	/** As the end of the process does. */
	void disconnect() throws IOException {
		Socket open = this.connection;
		if (open != null) {
			open.close();
		}
	}

	private static Socket connectOrStart(int port) {
		try {
			Socket kafka = KeeperProcess.connect(port);
			if (kafka != null) {
				logger.info("Using the Kafka that listens on port {}", port);
				return kafka;
			}
			logger.info("Nothing listens on port {}: starting a Kafka there, which ends with its last user", port);
			String output = KafkaKeeper.start(port);
			kafka = KeeperProcess.connect(port);
			if (kafka == null) {
				throw new IOException(output);
			}
			return kafka;
		}
		catch (IOException ex) {
			throw problem("Kafka can be neither reached nor started on port %d: %s".formatted(port, ex.getMessage()),
					ex);
		}
	}

	/** Another instance, or the user, may have created it already. */
	private void createTopic(int port, String address, int partitions) {
		Map<String, Object> client = Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address,
				AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, this.replyMillis,
				AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, this.replyMillis);
		try (Admin admin = Admin.create(client)) {
			admin.createTopics(List.of(new NewTopic(VisitCounter.TOPIC, Optional.of(partitions), Optional.empty())))
				.all()
				.get();
		}
		catch (ExecutionException ex) {
			if (!(ex.getCause() instanceof TopicExistsException)) {
				throw problem("Something listens on port %d, but does not create the topic '%s' as Kafka does: %s"
					.formatted(port, VisitCounter.TOPIC, ex.getCause()), ex);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw problem("Interrupted while the topic '%s' was created".formatted(VisitCounter.TOPIC), ex);
		}
	}

	private static ShardkeeperConfigurationException problem(String description, Exception cause) {
		return new ShardkeeperConfigurationException(description,
				"Name a Kafka that has the topic with --spring.kafka.bootstrap-servers=host:9092, or let the sample"
						+ " start one on a free port, for example --sample.kafka.port=9192.",
				cause);
	}

}
