package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.Map;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * For how long brokers make a client wait, as its metrics tell: if it exceeds a quota of
 * its id or its user, they reply, and it sends nothing more for a while. Checked by one
 * thread at a time; what is known is thread-safe.
 */
public final class Throttling {

	private static final Logger logger = PrintableLogger.of(Throttling.class);

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	/** Shorter waits hardly delay a record. */
	private static final Duration NOTEWORTHY = Duration.ofSeconds(1);

	private final Side side;

	private final String clientId;

	private ClientMetric metric = ClientMetric.NONE;

	private @Nullable MonotonicTime nextCheck;

	/** When the client last told of a wait. */
	private @Nullable MonotonicTime toldAt;

	private volatile Duration longest = Duration.ZERO;

	private volatile @Nullable String problem;

	/** Creates it for a client with an id, which is not open yet. */
	public Throttling(Side side, String clientId) {
		this.side = side;
		this.clientId = clientId;
	}

	/** Notes that the client was opened; another one before it is closed. */
	public synchronized void opened(Map<MetricName, ? extends Metric> metrics) {
		this.metric = ClientMetric.of(metrics, this.side.metric, "topic");
	}

	/** Reads the metric, once per second at most. */
	public synchronized void check(MonotonicTime now) {
		MonotonicTime next = this.nextCheck;
		if (next != null && now.isBefore(next)) {
			return;
		}
		this.nextCheck = now.plus(INTERVAL);
		double millis = this.metric.value();
		if (millis > 0) {
			this.toldAt = now;
			found(Duration.ofMillis((long) Math.ceil(millis)));
		}
		else if (this.toldAt != null && this.toldAt.until(now).compareTo(this.longest) > 0) {
			// A wait may be longer than the time for which the client tells of it.
			this.toldAt = null;
			ended();
		}
	}

	private void found(Duration wait) {
		this.longest = wait;
		if (this.problem == null && wait.compareTo(NOTEWORTHY) < 0) {
			return;
		}
		boolean isNew = this.problem == null;
		String text = ("Kafka's brokers let the client '%s' wait for up to %d ms before %s: it exceeds a quota of this "
				+ "client id, or of its user. No record is lost. Raise the quota ('%s' or 'request_percentage'; "
				+ "kafka-configs.sh --describe --entity-type clients, or users), or give this application an id or user of its own")
			.formatted(this.clientId, wait.toMillis(), this.side.before, this.side.quota);
		this.problem = text;
		if (isNew) {
			logger.warn("{}", text);
		}
	}

	private void ended() {
		this.longest = Duration.ZERO;
		if (this.problem != null) {
			this.problem = null;
			logger.info("Kafka's brokers do not let the client '{}' wait any more", this.clientId);
		}
	}

	/** Returns the longest wait of the last time, which is no silence of a broker. */
	public Duration longest() {
		return this.longest;
	}

	/** Returns who throttles, and what to do; {@code null} if it is not worth a word. */
	@Nullable public String problem() {
		return this.problem;
	}

	/** What a client does. */
	public enum Side {

		READING("fetch-throttle-time-max", "consumer_byte_rate", "it reads on"),

		SENDING("produce-throttle-time-max", "producer_byte_rate", "it sends more");

		private final String metric;

		private final String quota;

		private final String before;

		Side(String metric, String quota, String before) {
			this.metric = metric;
			this.quota = quota;
			this.before = before;
		}

	}

}
