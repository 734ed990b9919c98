package io.github.shardkeeper.source;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Source of topics, their shards and their records. An application's own source is a bean
 * of this type and replaces the default ones. A source may also implement
 * {@link ShardAppender}, so that {@link io.github.shardkeeper.ShardTemplate} can send to
 * it, {@link ShardTrimmer}, {@link GroupPositions} and
 * {@link io.github.shardkeeper.ShardTopics}; the bean method then returns the class
 * itself. Thread-safe.
 * <p>
 * The topics of a source are fixed while it is open. Shards may be added, closed, split
 * and merged at any time. A source knows neither groups nor owners and keeps no
 * positions: Shardkeeper passes committed offsets to {@link ShardReader#start}.
 */
public interface ShardSource extends AutoCloseable {

	/**
	 * Returns the topics with the shards that are known now, including closed shards that
	 * can still be read. Replies from memory. A topic whose shards are not known yet has
	 * {@link TopicShards#NONE}. Leaving out a shard does not close it: only its reader
	 * reports the end, with {@link ShardReader.RecordSink#ended()}. An
	 * {@linkplain TopicShards#exactly() exact list} takes a shard that it leaves out from
	 * its owner.
	 * @return the shards by topic
	 */
	Map<String, TopicShards> topics();

	/**
	 * Returns whether a topic has records. The shards of one without are tasks for
	 * handlers without records. Their offsets belong to Shardkeeper, which keeps the
	 * position in the schedule there.
	 * @param topic a topic of this source
	 * @return whether its shards have records
	 */
	default boolean hasRecords(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return true;
	}

	/**
	 * Returns the topics whose shards are unknown until somebody fixes a problem. Replies
	 * from memory.
	 * @return by topic a message that says what is wrong and how to fix it
	 */
	default Map<String, String> problems() {
		return Map.of();
	}

	/**
	 * Returns the topics that the system behind the source slows down, for example
	 * because of a quota: their records are read or appended, but later than they could
	 * be. Replies from memory.
	 * @return by topic a message that says who does that and what can be done
	 */
	default Map<String, String> throttled() {
		return Map.of();
	}

	/**
	 * Returns the shards that take new records now. The group compares them with those
	 * that it has completed, and reports a completed shard that is open again: it was
	 * probably deleted and created again. Replies from memory. A source that returns any
	 * calls the listeners of {@link #watch} after each new list, because only a list that
	 * is younger than the completion counts.
	 * @return the open shards by topic; without topics for which they are unknown
	 */
	default Map<String, OpenShards> openShards() {
		return Map.of();
	}

	/**
	 * Registers a listener for changes of {@link #topics()}. A source that has to poll
	 * for changes does so only while there is a listener.
	 * @param onChange called soon after a change, on any thread, and possibly without a
	 * change; it does not block
	 * @return the registration; a call that has begun may still arrive after closing it
	 */
	Watch watch(Runnable onChange);

	/**
	 * Opens a reader, which the caller polls and closes. It also accepts shards that
	 * {@link #topics()} does not return: another instance may know them first.
	 * @return a reader without shards
	 */
	ShardReader openReader();

	/**
	 * Resolves a start position to an offset of each shard. An offset as position is
	 * resolved without a call to the store.
	 * @param position the position; never that of a consumer group, which
	 * {@link GroupPositions} resolve
	 * @param shards the shards
	 * @return by shard the offset <em>after</em> which to read: that of the last record
	 * to skip, or any offset before the first record to read
	 * @throws IllegalArgumentException if the position holds an offset that is not valid
	 * for this source; the message describes valid ones. A retry does not help
	 * @throws io.github.shardkeeper.StoreUnavailableException if the source must be asked
	 * and does not reply; a retry makes sense
	 */
	Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards);

	/**
	 * Reads how far a committed offset is behind the end of its shard. Asks the system,
	 * with few and small commands.
	 * @param shard the shard
	 * @param committed the committed offset
	 * @return the lag; {@code null} if this source cannot tell
	 * @throws IllegalArgumentException if the offset is not valid for this source
	 * @throws io.github.shardkeeper.StoreUnavailableException if the source does not
	 * reply; a retry makes sense
	 */
	default @Nullable Lag lag(ShardId shard, Offset committed) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(committed, "committed must not be null");
		return null;
	}

	/** Closes the source and its connections. */
	@Override
	void close();

	/**
	 * The shards of a topic that take new records. Immutable.
	 *
	 * @param ids the ids of the shards
	 * @param age the time since the system was asked for them
	 */
	record OpenShards(Set<String> ids, Duration age) {

		public OpenShards {
			Objects.requireNonNull(ids, "ids must not be null");
			Objects.requireNonNull(age, "age must not be null");
			ids = Set.copyOf(ids);
		}

	}

	/**
	 * The distance between an offset and the end of its shard. Immutable.
	 *
	 * @param records the number of records after the offset, also those that handlers
	 * have but that are not committed; {@code null} if it is not known
	 * @param age the age of the first of them, zero if there are none; {@code null} if it
	 * is not known
	 * @param stable the number of those that readers can see now; {@code null} if they
	 * always see all. A source that holds records back, for example until the end of a
	 * transaction, always returns it, because its readers do not tell of new records
	 */
	record Lag(@Nullable Long records, @Nullable Duration age, @Nullable Long stable) {

		/** The lag of an offset at the end of its shard. */
		public static final Lag NONE = new Lag(0L, Duration.ZERO);

		/**
		 * Creates the lag of a shard all of whose records can be seen.
		 * @param records the number of records, {@code null} if it is not known
		 * @param age the age of the first of them, {@code null} if it is not known
		 */
		public Lag(@Nullable Long records, @Nullable Duration age) {
			this(records, age, null);
		}

	}

	/** Registration of a listener; see {@link ShardSource#watch}. Thread-safe. */
	interface Watch extends AutoCloseable {

		@Override
		void close();

	}

}
