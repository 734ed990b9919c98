package io.github.shardkeeper.source;

import java.util.Collection;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Positions of consumer groups that the system behind a source keeps, such as a Kafka
 * group, so that a group of Shardkeeper can begin where another application has stopped:
 * {@link io.github.shardkeeper.shard.StartPosition#group}. Optional: a
 * {@link ShardSource} implements it too. Thread-safe.
 * <p>
 * Not guaranteed: that nobody consumes with the group afterwards. A consumer that comes
 * back handles records again, and its later positions are not read.
 */
public interface GroupPositions {

	/**
	 * Reads where a consumer group stands in some shards, and whether it may be left
	 * there. Changes nothing. A position may be too low, but never too high: before it
	 * the group has handled everything, as far as the system knows.
	 * @param group the name of the consumer group
	 * @param shards one or more shards of one topic of this source
	 * @return the position in each of the shards
	 * @throws io.github.shardkeeper.StoreUnavailableException if the system does not
	 * reply; a retry makes sense
	 */
	Map<ShardId, Position> positions(String group, Collection<ShardId> shards);

	/**
	 * Position of a consumer group in a shard, an obstacle, or both. Immutable.
	 *
	 * @param before the offset after which to read, as of {@link ShardSource#before};
	 * {@code null} if it is not known
	 * @param obstacle a message that says why nobody may begin there now and what to do,
	 * equal in repeated calls while the reason is the same; {@code null} if nothing
	 * prevents it
	 */
	record Position(@Nullable Offset before, @Nullable String obstacle) {

		public Position {
			if (before == null && obstacle == null) {
				throw new IllegalArgumentException("Without a position there is an obstacle");
			}
		}

		/**
		 * {@return a position at which one may begin}
		 * @param before the offset after which to read
		 */
		public static Position after(Offset before) {
			Objects.requireNonNull(before, "before must not be null");
			return new Position(before, null);
		}

	}

}
