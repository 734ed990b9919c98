package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the source {@code sls}. Immutable.
 *
 * @param endpoint Host of the region's service, such as cn-hangzhou.log.aliyuncs.com.
 * Reached with https, unless it begins with http://.
 * @param project Project of the logstores.
 * @param accessKeyId Id of the access key. Not with a CredentialsProvider bean.
 * @param accessKeySecret Secret of the access key. Not with a CredentialsProvider bean.
 * @param securityToken Security token of a temporary access key. For tokens that change
 * define a CredentialsProvider bean.
 * @param region Region such as cn-hangzhou, to sign requests with version 4 of the
 * signature. Defaults to version 1.
 * @param proxy HTTP proxy as host:port. Defaults to none.
 * @param pollInterval Interval of reads of a shard that has no new records.
 * @param shardInterval Interval at which the shards of the logstores are listed.
 * @param fetchCount Maximum number of log groups that a request reads.
 * @param threads Maximum number of requests at a time that read, and the same for those
 * that append.
 * @param requestTimeout Maximum time for a connection, and for each part of an answer.
 * @param consumerGroup Name of an SLS consumer group that shows the positions of the
 * checkpoints. Defaults to none.
 * @param topics Logstores, by the name of the topic. Without an entry, a topic reads the
 * logstore of the same name.
 */
public record SlsSourceProperties(@Nullable String endpoint, @Nullable String project, @Nullable String accessKeyId,
		@Nullable String accessKeySecret, @Nullable String securityToken, @Nullable String region,
		@Nullable String proxy, @DefaultValue("500ms") Duration pollInterval,
		@DefaultValue("10s") Duration shardInterval, @DefaultValue("100") int fetchCount,
		@DefaultValue("4") int threads, @DefaultValue("10s") Duration requestTimeout, @Nullable String consumerGroup,
		@DefaultValue Map<String, SlsTopicProperties> topics) {

	/** Without credentials. */
	@Override
	public String toString() {
		return "SlsSourceProperties[endpoint=%s, project=%s, topics=%s]".formatted(this.endpoint, this.project,
				this.topics);
	}

	/**
	 * Logstore that a topic reads.
	 *
	 * @param logstore Name of the logstore. Defaults to the name of the topic.
	 * @param keyField Content field that is the key of a record, for logs of other
	 * producers. Defaults to none.
	 */
	public record SlsTopicProperties(@Nullable String logstore, @Nullable String keyField) {

	}

}
