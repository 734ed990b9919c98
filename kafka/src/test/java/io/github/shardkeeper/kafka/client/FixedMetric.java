package io.github.shardkeeper.kafka.client;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

/** Metric of a client whose value does not change. */
public record FixedMetric(MetricName metricName, Object metricValue) implements Metric {

}
