package io.github.shardkeeper.output;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Where the records of calls go, and how many of them may wait. Immutable.
 *
 * @param targets the topics
 * @param maxRecords the maximum number of records in the outbox of a shard
 * @param maxBytes the maximum size of these records, in bytes
 */
public record OutputSettings(OutputTargets targets, int maxRecords, long maxBytes) {

	/** Maximum number of records that one call may send. */
	static final int MAX_RECORDS_PER_CALL = 10_000;

	/** Maximum size of these records, in bytes: they are in one commit. */
	static final long MAX_BYTES_PER_CALL = 64 * 1024 * 1024;

	/** No topics: nothing can be sent. */
	public static final OutputSettings NONE = new OutputSettings(new NoTargets(), 1, 1);

	/** Returns the records of a call that begins on this thread. */
	public OutputBuffer open() {
		return new OutputBuffer(this.targets);
	}

	private static final class NoTargets implements OutputTargets {

		@Override
		public NewRecord prepare(String topic, Outgoing outgoing) {
			throw none(topic);
		}

		@Override
		public SequencedAppender appender(String topic) {
			throw none(topic);
		}

		private static ShardkeeperConfigurationException none(@Nullable String topic) {
			return new ShardkeeperConfigurationException(
					"A call sends to the topic '%s', but no source of this application takes records.".formatted(topic),
					"Send to a topic of Redis Streams.");
		}

	}

}
