package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import com.aliyun.openservices.log.common.ConsumerGroupShardCheckPoint;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.GroupPositions.Position;

/**
 * Checkpoints of an SLS consumer group, as positions at which to begin. A shard without
 * one begins with its first log, unless the logstore has no such group, or the group no
 * checkpoint at all. SLS does not tell which consumers live, only when a checkpoint was
 * written: the vendor's consumers write one once per minute, if they have read anything.
 * So a shard whose checkpoint is younger than {@link #SETTLED} has to wait; an idle
 * consumer is not noticed. Thread-safe.
 */
final class ConsumerGroupCheckpoints {

	static final Duration SETTLED = Duration.ofMinutes(2);

	private final SlsClient client;

	private final LongSupplier currentMillis;

	ConsumerGroupCheckpoints(SlsClient client, LongSupplier currentMillis) {
		this.client = client;
		this.currentMillis = currentMillis;
	}

	/** Returns the positions in shards of one topic; there is at least one. */
	Map<ShardId, Position> positions(String consumerGroup, Collection<ShardId> shards) {
		String topic = shards.iterator().next().topic();
		Map<String, ConsumerGroupShardCheckPoint> checkpoints = checkpoints(topic, consumerGroup);
		Map<ShardId, Position> positions = new HashMap<>();
		shards.forEach((shard) -> positions.put(shard, checkpoints.isEmpty() ? unknown(topic, consumerGroup)
				: position(consumerGroup, shard, checkpoints.get(shard.id()))));
		return positions;
	}

	/** Returns by shard the checkpoints that have a cursor. */
	private Map<String, ConsumerGroupShardCheckPoint> checkpoints(String topic, String consumerGroup) {
		try {
			return this.client.checkpoints(topic, consumerGroup)
				.stream()
				.filter((checkpoint) -> checkpoint.getCheckPoint() != null && !checkpoint.getCheckPoint().isEmpty())
				.collect(
						Collectors.toMap((checkpoint) -> Integer.toString(checkpoint.getShard()), Function.identity()));
		}
		catch (SlsFailure ex) {
			if (ex.kind() == SlsFailure.Kind.NO_CONSUMER_GROUP) {
				return Map.of();
			}
			throw ex;
		}
	}

	private Position unknown(String topic, String consumerGroup) {
		return new Position(null,
				("The SLS consumer group '%s' has no checkpoint in the logstore '%s'. Correct the name, or set "
						+ "'shardkeeper.topics.%s.start' to another value")
					.formatted(consumerGroup, this.client.logstore(topic), topic));
	}

	private Position position(String consumerGroup, ShardId shard, @Nullable ConsumerGroupShardCheckPoint checkpoint) {
		if (checkpoint == null) {
			return Position.after(SlsOffset.BEGIN.toOffset());
		}
		long age = this.currentMillis.getAsLong() - TimeUnit.MICROSECONDS.toMillis(checkpoint.getUpdateTime());
		String consumer = checkpoint.getConsumer();
		return new Position(SlsOffset.before(checkpoint.getCheckPoint()).toOffset(), (age < SETTLED.toMillis())
				? ("The SLS consumer group '%s' has written a checkpoint of %s within the last two minutes%s. Stop "
						+ "the application that consumes with this group")
					.formatted(consumerGroup, shard,
							(consumer != null && !consumer.isEmpty()) ? " (" + consumer + ")" : "")
				: null);
	}

}
