package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.Map;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

import io.github.shardkeeper.kafka.client.ClientMetric;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Replies of brokers to the fetches of a consumer, which does not tell of them: it
 * retries, and returns nothing. Confined to the polling thread.
 */
final class FetchReplies {

	private ClientMetric fetches = ClientMetric.NONE;

	/** The number of bytes that the consumer has received. */
	private ClientMetric received = ClientMetric.NONE;

	private double lastFetches;

	private MonotonicTime silentSince;

	FetchReplies(MonotonicTime now) {
		this.silentSince = now;
	}

	/** Begins with a new consumer. */
	void opened(Map<MetricName, ? extends Metric> metrics, MonotonicTime now) {
		this.fetches = ClientMetric.of(metrics, "fetch-total", "topic");
		this.lastFetches = 0;
		this.received = ClientMetric.of(metrics, "incoming-byte-total", "node-id");
		this.silentSince = now;
	}

	/** Returns whether a broker has answered since the last call. */
	boolean isNew(boolean hasRecords, MonotonicTime now) {
		// Without the metric each poll counts as answered.
		double count = this.fetches.value();
		boolean isNew = hasRecords || count != this.lastFetches;
		this.lastFetches = count;
		if (isNew) {
			this.silentSince = now;
		}
		return isNew;
	}

	/** Notes that no broker is asked. */
	void noneExpected(MonotonicTime now) {
		this.silentSince = now;
	}

	boolean isSilent(Duration limit, MonotonicTime now) {
		return this.silentSince.until(now).compareTo(limit) > 0;
	}

	/** Returns whether not even the first server has answered the consumer. */
	boolean isUnconnected() {
		return this.received.value() == 0;
	}

}
