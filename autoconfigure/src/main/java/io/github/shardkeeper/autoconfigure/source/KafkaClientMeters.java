package io.github.shardkeeper.autoconfigure.source;

import java.util.List;
import java.util.Map;
import java.util.Set;
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

import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Binds the metrics of Kafka's clients to meters, with the names and tags that Spring
 * Boot gives those of the application's own clients: a registry such as Prometheus' takes
 * meters of one name only with the same tags. A registry that fails has no effect on the
 * clients. Thread-safe.
 */
public final class KafkaClientMeters implements KafkaClientListener, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(KafkaClientMeters.class);

	/** What names the bean of a client, as Spring Kafka does it. */
	private static final List<Tag> TAGS = List.of(Tag.of("spring.id", "shardkeeperKafkaSource"));

	private final MeterRegistry registry;

	private final Map<AutoCloseable, Bound> bound = new ConcurrentHashMap<>();

	public KafkaClientMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	private static Thread thread(Runnable work) {
		Thread thread = new Thread(work, "shardkeeper-kafka-meters");
		thread.setDaemon(true);
		return thread;
	}

	@Override
	public void opened(AutoCloseable client) {
		ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(KafkaClientMeters::thread);
		KafkaClientMetrics metrics = metrics(client, executor);
		if (metrics == null) {
			executor.shutdown();
			return;
		}
		this.bound.put(client, new Bound(metrics, executor));
		try {
			metrics.bindTo(this.registry);
		}
		catch (RuntimeException ex) {
			logger.warn("Meters of a Kafka client cannot be registered; consumption continues", ex);
			closed(client);
		}
	}

	private static @Nullable KafkaClientMetrics metrics(AutoCloseable client, ScheduledExecutorService executor) {
		if (client instanceof Consumer<?, ?> consumer) {
			return new KafkaClientMetrics(consumer, TAGS, executor);
		}
		if (client instanceof Producer<?, ?> producer) {
			return new KafkaClientMetrics(producer, TAGS, executor);
		}
		return (client instanceof AdminClient admin) ? new KafkaClientMetrics(admin, TAGS, executor) : null;
	}

	@Override
	public void closed(AutoCloseable client) {
		Bound removed = this.bound.remove(client);
		if (removed == null) {
			return;
		}
		removed.executor.shutdownNow();
		try {
			removed.metrics.close();
		}
		catch (RuntimeException ex) {
			logger.warn("Meters of a closed Kafka client cannot be removed", ex);
		}
	}

	/** The clients are closed before. */
	@Override
	public void close() {
		Set.copyOf(this.bound.keySet()).forEach(this::closed);
	}

	/**
	 * Meters of a client.
	 *
	 * @param metrics binds the meters
	 * @param executor looks once per minute for metrics that have come and gone, as long
	 * as it runs: closing the meters does not end that
	 */
	private record Bound(KafkaClientMetrics metrics, ScheduledExecutorService executor) {

	}

}
