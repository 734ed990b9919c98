package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.kafka.KafkaClientListener;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Binds the metrics of Kafka's clients to meters, with the names and tags that Spring
 * Boot gives those of the application's own clients: a registry such as Prometheus' takes
 * meters of one name only with the same tags. A registry that fails has no effect on the
 * clients. Thread-safe.
 */
final class KafkaClientMeters implements KafkaClientListener, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(KafkaClientMeters.class);

	/** What names the bean of a client, as Spring Kafka does it. */
	private static final List<Tag> TAGS = List.of(Tag.of("spring.id", "shardkeeperKafkaSource"));

	private final MeterRegistry registry;

	/** Looks once per minute for metrics that have come and gone. */
	private final ScheduledExecutorService executor = Executors
		.newSingleThreadScheduledExecutor(KafkaClientMeters::thread);

	private final Map<AutoCloseable, KafkaClientMetrics> bound = new ConcurrentHashMap<>();

	KafkaClientMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	private static Thread thread(Runnable work) {
		Thread thread = new Thread(work, "shardkeeper-kafka-meters");
		thread.setDaemon(true);
		return thread;
	}

	@Override
	public void opened(AutoCloseable client) {
		KafkaClientMetrics metrics = metrics(client);
		if (metrics == null) {
			return;
		}
		try {
			metrics.bindTo(this.registry);
			this.bound.put(client, metrics);
		}
		catch (RuntimeException ex) {
			logger.warn("Meters of a Kafka client cannot be registered; consumption continues", ex);
		}
	}

	private @Nullable KafkaClientMetrics metrics(AutoCloseable client) {
		if (client instanceof Consumer<?, ?> consumer) {
			return new KafkaClientMetrics(consumer, TAGS, this.executor);
		}
		if (client instanceof Producer<?, ?> producer) {
			return new KafkaClientMetrics(producer, TAGS, this.executor);
		}
		return (client instanceof AdminClient admin) ? new KafkaClientMetrics(admin, TAGS, this.executor) : null;
	}

	@Override
	public void closed(AutoCloseable client) {
		KafkaClientMetrics metrics = this.bound.remove(client);
		if (metrics != null) {
			metrics.close();
		}
	}

	/** The clients are closed before. */
	@Override
	public void close() {
		this.executor.shutdownNow();
	}

}
