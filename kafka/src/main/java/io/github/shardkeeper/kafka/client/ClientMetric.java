package io.github.shardkeeper.kafka.client;

import java.util.Map;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.jspecify.annotations.Nullable;

/**
 * Metric of a whole client of Kafka, which is looked up once. Those of its connections,
 * topics and partitions have the same names, and tags. Thread-safe.
 */
public final class ClientMetric {

	/** Of no client: it has no value. */
	public static final ClientMetric NONE = new ClientMetric(null);

	private final @Nullable Metric metric;

	private ClientMetric(@Nullable Metric metric) {
		this.metric = metric;
	}

	/**
	 * Finds a metric.
	 * @param tag the tag that those of the client's parts have
	 */
	public static ClientMetric of(Map<MetricName, ? extends Metric> metrics, String wanted, String tag) {
		for (Map.Entry<MetricName, ? extends Metric> entry : metrics.entrySet()) {
			MetricName name = entry.getKey();
			if (name.name().equals(wanted) && !name.tags().containsKey(tag)) {
				return new ClientMetric(entry.getValue());
			}
		}
		return NONE;
	}

	/** Returns the value, {@code NaN} if it has none. */
	public double value() {
		Metric found = this.metric;
		return (found != null && found.metricValue() instanceof Double value) ? value : Double.NaN;
	}

}
