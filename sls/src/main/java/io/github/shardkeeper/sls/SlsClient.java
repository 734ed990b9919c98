package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.aliyun.openservices.log.Client;
import com.aliyun.openservices.log.common.Consts;
import com.aliyun.openservices.log.common.Consts.CursorMode;
import com.aliyun.openservices.log.common.ConsumerGroup;
import com.aliyun.openservices.log.common.ConsumerGroupShardCheckPoint;
import com.aliyun.openservices.log.common.Shard;
import com.aliyun.openservices.log.common.auth.CredentialsProvider;
import com.aliyun.openservices.log.exception.LogException;
import com.aliyun.openservices.log.http.client.ClientConfiguration;
import com.aliyun.openservices.log.http.signer.SignVersion;
import com.aliyun.openservices.log.request.GetCursorRequest;
import com.aliyun.openservices.log.request.PullLogsRequest;
import com.aliyun.openservices.log.response.PullLogsResponse;
import com.aliyun.openservices.log.util.LZ4Encoder;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Requests to the service, through the vendor's client. Every method blocks until the
 * reply, throws {@link SlsFailure} and does not retry. The client asks the
 * {@link CredentialsProvider} for each request, so changed credentials count at once.
 * Thread-safe.
 */
final class SlsClient implements AutoCloseable {

	/** Heartbeats that SLS consumers of a consumer group send; nobody here does. */
	private static final int CONSUMER_GROUP_TIMEOUT_SECONDS = 60;

	private final SlsSettings settings;

	private final Client client;

	SlsClient(SlsSettings settings, CredentialsProvider credentials) {
		this.settings = settings;
		ClientConfiguration configuration = new ClientConfiguration();
		int millis = (int) Math.min(Integer.MAX_VALUE, Math.max(1, settings.requestTimeout().toMillis()));
		configuration.setConnectionTimeout(millis);
		configuration.setSocketTimeout(millis);
		// Those that read, those that append, those that list shards and resolve
		// positions.
		configuration.setMaxConnections(4 * settings.threads() + 8);
		// Otherwise it repeats requests, also those that append, and sleeps in between.
		configuration.setRetryDisabled(true);
		configuration.setMaxErrorRetry(0);
		String proxy = settings.proxy();
		if (proxy != null) {
			int colon = proxy.indexOf(':');
			configuration.setProxyHost(proxy.substring(0, colon));
			configuration.setProxyPort(Integer.parseInt(proxy.substring(colon + 1)));
		}
		// With an address of its own it would look up those of the machine.
		this.client = new Client(settings.url(), credentials, new VerifyingServiceClient(configuration), "shardkeeper");
		this.client.setUserAgent("shardkeeper");
		String region = settings.region();
		if (region != null) {
			this.client.setRegion(region);
			this.client.setSignatureVersion(SignVersion.V4);
			// Signs with the version that is set by then.
			this.client.setCredentialsProvider(credentials);
		}
	}

	/** Returns the logstore of a topic. */
	String logstore(String topic) {
		SlsSettings.Logstore logstore = this.settings.topics().get(topic);
		if (logstore == null) {
			throw SlsFailure.refused("The topic '%s' is none of this source; it has %s".formatted(topic,
					this.settings.topics().keySet()));
		}
		return logstore.name();
	}

	List<Shard> shards(String topic) {
		String logstore = logstore(topic);
		return call("list the shards of '%s'".formatted(logstore),
				() -> this.client.ListShard(this.settings.project(), logstore).GetShards());
	}

	String begin(ShardId shard) {
		return cursor(shard, new GetCursorRequest(this.settings.project(), logstore(shard.topic()), number(shard),
				CursorMode.BEGIN));
	}

	String end(ShardId shard) {
		return cursor(shard,
				new GetCursorRequest(this.settings.project(), logstore(shard.topic()), number(shard), CursorMode.END));
	}

	/** Returns the cursor of the first log group that was received at a time or later. */
	String cursorAt(ShardId shard, long epochSecond) {
		return cursor(shard,
				new GetCursorRequest(this.settings.project(), logstore(shard.topic()), number(shard), epochSecond));
	}

	private String cursor(ShardId shard, GetCursorRequest request) {
		String what = "get a cursor of %s".formatted(shard);
		String cursor = call(what, () -> this.client.GetCursor(request).GetCursor());
		if (cursor == null || cursor.isEmpty()) {
			throw SlsFailure.malformed(what, "it has no cursor");
		}
		return cursor;
	}

	/**
	 * Returns the time at which the log group of a cursor was received, in seconds since
	 * 1970.
	 */
	long cursorTime(ShardId shard, String cursor) {
		return call("get the time of a cursor of %s".formatted(shard),
				() -> this.client.GetCursorTime(this.settings.project(), logstore(shard.topic()), number(shard), cursor)
					.GetCursorTime());
	}

	/** Reads up to {@code count} log groups. */
	Pulled pull(ShardId shard, String cursor, int count) {
		String what = "read %s".formatted(shard);
		String logstore = logstore(shard.topic());
		return call(what, () -> {
			PullLogsResponse response = this.client
				.pullLogs(new PullLogsRequest(this.settings.project(), logstore, number(shard), count, cursor));
			String next = response.getNextCursor();
			// Not parsed by the client: it decodes text with the default charset of the
			// JVM, and returns what it cannot parse as empty.
			byte[] logGroups = (response.getRawSize() > 0)
					? LZ4Encoder.decompressFromLhLz4Chunk(response.getRawData(), response.getRawSize()) : new byte[0];
			return new Pulled(logGroups, response.getCount(), (next != null && !next.isEmpty()) ? next : null,
					response.isEndOfCursor(), response.getCursorTime());
		});
	}

	/** Appends an encoded log group to the shard that has a hash key. */
	void put(String topic, byte[] logGroup, String hashKey) {
		String logstore = logstore(topic);
		call("append to '%s'".formatted(logstore), () -> this.client.PutLogs(this.settings.project(), logstore,
				logGroup, Consts.CompressType.LZ4.toString(), hashKey));
	}

	void createConsumerGroup(String topic, String consumerGroup) {
		String logstore = logstore(topic);
		call("create the consumer group '%s' of '%s'".formatted(consumerGroup, logstore), () -> {
			try {
				return this.client.CreateConsumerGroup(this.settings.project(), logstore,
						new ConsumerGroup(consumerGroup, CONSUMER_GROUP_TIMEOUT_SECONDS, true));
			}
			catch (LogException ex) {
				if ("ConsumerGroupAlreadyExist".equals(ex.getErrorCode())) {
					return Map.of();
				}
				throw ex;
			}
		});
	}

	void updateCheckpoint(ShardId shard, String consumerGroup, String cursor) {
		String logstore = logstore(shard.topic());
		call("write the position of %s to the consumer group '%s'".formatted(shard, consumerGroup), () -> this.client
			.UpdateCheckPoint(this.settings.project(), logstore, consumerGroup, number(shard), cursor));
	}

	List<ConsumerGroupShardCheckPoint> checkpoints(String topic, String consumerGroup) {
		String logstore = logstore(topic);
		return call("read the checkpoints of the consumer group '%s' of '%s'".formatted(consumerGroup, logstore),
				() -> this.client.GetCheckPoint(this.settings.project(), logstore, consumerGroup).getCheckPoints());
	}

	Duration timeout() {
		return this.settings.requestTimeout();
	}

	private static int number(ShardId shard) {
		int number = ShardId.number(shard.id());
		if (number < 0) {
			throw SlsFailure.refused("%s is no shard of a logstore: those have numbers".formatted(shard));
		}
		return number;
	}

	private <T> T call(String what, Request<T> request) {
		try {
			return request.send();
		}
		catch (LogException ex) {
			throw SlsFailure.of(what, ex, this.settings);
		}
		catch (SlsFailure ex) {
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			// An error, too: a class that is missing must not end the reading of a shard.
			throw SlsFailure.unexpected(what, ex);
		}
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

	@FunctionalInterface
	private interface Request<T> {

		T send() throws LogException;

	}

	/**
	 * Reply of a read.
	 *
	 * @param logGroups the encoded list of log groups
	 * @param count the number of log groups, which may be fewer than there are
	 * @param next the cursor after the last of them; {@code null} if that of the request
	 * remains
	 * @param atEnd whether the shard had no more log groups
	 * @param nextEpochSecond the time of the next cursor; 0 if it is not known
	 */
	record Pulled(byte[] logGroups, int count, @Nullable String next, boolean atEnd, long nextEpochSecond) {

	}

}
