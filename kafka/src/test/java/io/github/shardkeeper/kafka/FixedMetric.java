package io.github.shardkeeper.kafka;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

/** Metric of a client whose value does not change. */
record FixedMetric(MetricName metricName, Object metricValue) implements Metric {

}
