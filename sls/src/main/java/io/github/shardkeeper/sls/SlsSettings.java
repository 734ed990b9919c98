package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.source.ResetPolicy;

/**
 * Settings of a {@link SlsShardSource}, without credentials. Immutable.
 *
 * @param endpoint the host of the region's service, such as
 * {@code cn-hangzhou.log.aliyuncs.com}, with {@code https} unless it begins with
 * {@code http://}
 * @param project the project that has all logstores
 * @param topics by topic its logstore
 * @param pollInterval the interval of reads of a shard without new records
 * @param shardListInterval the interval at which the shards of the logstores are listed
 * @param fetchCount the maximum number of log groups of a read, 1 to 1,000
 * @param threads the maximum number of reads at a time, and the same for requests that
 * append
 * @param requestTimeout the time limit for a connection and for each part of a reply
 * @param region the region for signatures of version 4, {@code null} for version 1
 * @param proxy the HTTP proxy as {@code host:port}, {@code null} for none
 * @param consumerGroup the SLS consumer group that shows committed positions,
 * {@code null} for none
 */
public record SlsSettings(String endpoint, String project, Map<String, Logstore> topics, Duration pollInterval,
		Duration shardListInterval, int fetchCount, int threads, Duration requestTimeout, @Nullable String region,
		@Nullable String proxy, @Nullable String consumerGroup) {

	/** Maximum number of log groups that the service returns at once. */
	public static final int MAX_FETCH_COUNT = 1000;

	private static final Pattern ENDPOINT = Pattern.compile("(https?://)?[A-Za-z0-9._-]+/?");

	private static final Pattern PROXY = Pattern.compile("[A-Za-z0-9._-]+:[0-9]{1,5}");

	public SlsSettings {
		Objects.requireNonNull(endpoint, "endpoint must not be null");
		Objects.requireNonNull(project, "project must not be null");
		Objects.requireNonNull(pollInterval, "pollInterval must not be null");
		Objects.requireNonNull(shardListInterval, "shardListInterval must not be null");
		Objects.requireNonNull(requestTimeout, "requestTimeout must not be null");
		topics = Map.copyOf(topics);
		// The text is not repeated: it may hold a password.
		require(ENDPOINT.matcher(endpoint).matches(),
				"'shardkeeper.sls.endpoint' is not valid: it is a host name such as 'cn-hangzhou.log.aliyuncs.com', perhaps after "
						+ "'https://' or 'http://', without project, port, path and credentials");
		require(!project.isBlank(), "'shardkeeper.sls.project' must not be blank");
		requirePositive(pollInterval, "poll-interval");
		requirePositive(shardListInterval, "shard-interval");
		requirePositive(requestTimeout, "request-timeout");
		require(fetchCount >= 1 && fetchCount <= MAX_FETCH_COUNT,
				"'shardkeeper.sls.fetch-count' is %,d: it is 1 to %,d".formatted(fetchCount, MAX_FETCH_COUNT));
		require(threads >= 1 && threads <= 64, "'shardkeeper.sls.threads' is %d: it is 1 to 64".formatted(threads));
		require(proxy == null || PROXY.matcher(proxy).matches() && port(proxy) <= 65_535,
				"'shardkeeper.sls.proxy' is not valid: it is 'host:port', without scheme and credentials");
	}

	private static int port(String proxy) {
		return Integer.parseInt(proxy.substring(proxy.indexOf(':') + 1));
	}

	private static void requirePositive(Duration duration, String property) {
		require(!duration.isNegative() && !duration.isZero() && duration.compareTo(Duration.ofDays(1)) <= 0,
				"'shardkeeper.sls.%s' is %s: it is more than 0 and at most a day".formatted(property, duration));
	}

	private static void require(boolean valid, String otherwise) {
		if (!valid) {
			throw new IllegalArgumentException(otherwise);
		}
	}

	/** Returns the endpoint with its scheme. */
	String url() {
		return this.endpoint.startsWith("http") && this.endpoint.contains("://") ? this.endpoint
				: "https://" + this.endpoint;
	}

	/**
	 * Logstore of a topic. Immutable.
	 *
	 * @param name the name of the logstore
	 * @param keyField the content field that is the key of a record, {@code null} for
	 * none. Does not apply to records that have their own key, as those of
	 * {@link io.github.shardkeeper.ShardTemplate} have
	 * @param reset what happens if the records after a checkpoint have expired
	 */
	public record Logstore(String name, @Nullable String keyField, ResetPolicy reset) {

		public Logstore {
			Objects.requireNonNull(name, "name must not be null");
			Objects.requireNonNull(reset, "reset must not be null");
			require(!name.isBlank(), "The name of a logstore must not be blank");
		}

	}

}
