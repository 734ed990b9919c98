package io.github.shardkeeper.kafka.reading;

import java.util.Locale;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.kafka.reading.ReadPosition.Invalidity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Applies a topic's {@link ResetPolicy} to positions that are not in their partitions as
 * they are now. Confined to the polling thread.
 */
final class PositionReset {

	private static final Logger logger = PrintableLogger.of(PositionReset.class);

	private final OffsetLookup offsets;

	private final TopicDirectory directory;

	PositionReset(OffsetLookup offsets, TopicDirectory directory) {
		this.offsets = offsets;
		this.directory = directory;
	}

	/**
	 * Moves a position, or halts it; returns whether it can be read from now.
	 * @throws StoreUnavailableException if the offsets of the partition are not known
	 */
	boolean apply(ReadPosition position, Described described) {
		TopicPartition partition = position.partition();
		boolean anotherTopic = position.isOfAnotherTopic(described.id());
		long begin = this.offsets.beginning(partition);
		long end = this.offsets.end(partition);
		if (position.isAtBeginning()) {
			position.setTopicId(described.id());
			if (anotherTopic) {
				// Records that were done ahead are others now.
				position.reset(new OffsetAndMetadata(begin), true);
			}
			else {
				position.begin(begin);
			}
			return true;
		}
		ShardId shard = position.shard();
		long wanted = position.next();
		Invalidity invalidity = invalidity(position, described);
		OffsetAndMetadata divergence = invalidity.divergence();
		String what = "%s was to be read from offset %d of the Kafka partition %s, which has the offsets from %d to before %d, but %s"
			.formatted(shard, wanted, partition, begin, end, invalidity.reason());
		ResetPolicy policy = this.directory.reset(shard.topic());
		String setting = "'shardkeeper.topics.%s.reset: %s'".formatted(shard.topic(),
				policy.name().toLowerCase(Locale.ROOT));
		if (policy == ResetPolicy.STOP) {
			String halted = "%s. It is not read (%s). Set its position with ShardPositions".formatted(what, setting);
			logger.error(halted);
			position.halt(halted);
			return false;
		}
		OffsetAndMetadata resumed = (divergence != null && divergence.offset() >= begin) ? divergence
				: new OffsetAndMetadata((policy == ResetPolicy.LATEST) ? end : begin);
		logger.warn("{}. Reading resumes at offset {} ({}). {}", what, resumed.offset(), setting,
				loss(wanted, resumed.offset(), resumed == divergence));
		// Before the beginning there is only what the topic has removed itself.
		boolean removed = divergence == null && !anotherTopic && wanted < begin;
		position.setTopicId(described.id());
		position.reset(resumed, !removed);
		return true;
	}

	/** Returns why a position is not one of the topic as it is. */
	static Invalidity invalidity(ReadPosition position, Described described) {
		Invalidity known = position.invalidity();
		return (known != null && !position.isOfAnotherTopic(described.id())) ? known : new Invalidity(
				"its Kafka topic was deleted and created again, or is that of another cluster (its id was %s, and is %s)"
					.formatted(position.topicId(), described.id()),
				null);
	}

	private static String loss(long wanted, long resumed, boolean diverged) {
		if (diverged) {
			return "Up to %d records that were handled are lost in Kafka; what handlers did with them stays, also in the state"
				.formatted(wanted - resumed);
		}
		return (resumed > wanted) ? "Up to %d records are lost".formatted(resumed - wanted)
				: "It is unknown how many records are lost";
	}

}
