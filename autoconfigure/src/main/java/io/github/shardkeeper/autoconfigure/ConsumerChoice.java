package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.core.retry.RetryPolicy;
import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.consumer.ConsumerSettings;
import io.github.shardkeeper.consumer.ConsumerSettings.BufferLimits;
import io.github.shardkeeper.consumer.ConsumerSettings.Commits;

/**
 * How each topic is consumed: as all are, but for what is set for it.
 */
final class ConsumerChoice {

	private final ShardkeeperProperties properties;

	private final ShardkeeperProperties.Consumer all;

	ConsumerChoice(ShardkeeperProperties properties) {
		this.properties = properties;
		this.all = properties.consumer();
	}

	/** The settings of every topic, checked. */
	Function<String, ConsumerSettings> choose() {
		Map<String, ConsumerSettings> byTopic = new TreeMap<>();
		this.properties.topics().forEach((name, topic) -> {
			ConsumerSettings settings = settings(topic.consumer());
			ConsumerCheck.check(name, settings);
			byTopic.put(name, settings);
		});
		ConsumerSettings others = settings(null);
		return (topic) -> byTopic.getOrDefault(topic, others);
	}

	private ConsumerSettings settings(ShardkeeperProperties.@Nullable TopicConsumer own) {
		if (own == null) {
			own = new ShardkeeperProperties.TopicConsumer(null, null, null, null, null, null, null, null, null, null,
					null, null);
		}
		return new ConsumerSettings(commits(own.commit()), or(own.ordering(), this.all.ordering()),
				or(own.concurrency(), this.all.concurrency()), or(own.maxAhead(), this.all.maxAhead()),
				or(own.batchSize(), this.all.batchSize()), buffer(own.buffer()),
				or(own.maxPayloadSize(), this.all.maxPayloadSize()).toBytes(), retry(own.retry()),
				or(own.onFailure(), this.all.onFailure()), or(own.retryQueue(), this.all.retryQueue()).delays(),
				or(own.longCall(), this.all.longCall()),
				or(own.maxConversionFailures(), this.all.maxConversionFailures()));
	}

	private Commits commits(ShardkeeperProperties.@Nullable TopicCommit own) {
		ShardkeeperProperties.Commit commit = this.all.commit();
		return (own == null) ? new Commits(commit.mode(), commit.interval(), commit.records())
				: new Commits(or(own.mode(), commit.mode()), or(own.interval(), commit.interval()),
						or(own.records(), commit.records()));
	}

	private BufferLimits buffer(ShardkeeperProperties.@Nullable TopicBuffer own) {
		ShardkeeperProperties.Buffer buffer = this.all.buffer();
		DataSize size = (own != null) ? or(own.size(), buffer.size()) : buffer.size();
		return new BufferLimits((own != null) ? or(own.records(), buffer.records()) : buffer.records(), size.toBytes());
	}

	private RetryPolicy retry(ShardkeeperProperties.@Nullable TopicRetry own) {
		ShardkeeperProperties.Retry retry = this.all.retry();
		if (own != null) {
			retry = new ShardkeeperProperties.Retry(or(own.maxAttempts(), retry.maxAttempts()),
					or(own.initialInterval(), retry.initialInterval()), or(own.multiplier(), retry.multiplier()),
					or(own.maxInterval(), retry.maxInterval()), or(own.excludes(), retry.excludes()));
		}
		ConsumerCheck.check(retry);
		List<Class<? extends Throwable>> excludes = retry.excludes();
		return RetryPolicy.builder()
			.maxRetries(retry.maxAttempts() - 1L)
			.delay(retry.initialInterval())
			.multiplier(retry.multiplier())
			.maxDelay(retry.maxInterval())
			.excludes(excludes)
			.build();
	}

	private static <T> T or(@Nullable T own, T all) {
		return (own != null) ? own : all;
	}

}
