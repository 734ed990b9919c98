package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Where a group begins with shards of which it has no offset yet. Thread-safe.
 * <p>
 * "Latest" is the moment at which the group consumed the topic for the first time, as the
 * store has it: it is the same for a shard that comes later, and for the next owner of
 * one whose first owner died before it committed anything, so neither misses a record.
 */
public final class StartPositions {

	/** Many shards begin together. */
	private static final Duration FRESH = Duration.ofSeconds(1);

	private final ShardSource source;

	private final CheckpointStore checkpoints;

	/** Without those that begin with their first record. */
	private final Map<String, StartPosition> positions;

	private final MonotonicClock clock;

	/** Those that have become times. */
	private final Map<String, Moment> moments = new ConcurrentHashMap<>();

	/**
	 * Creates start positions.
	 * @param source where records come from
	 * @param checkpoints tells since when the group consumes a topic
	 * @param positions by topic where to begin; the others begin with their first record
	 * @param clock tells when what the store has answered is old
	 * @throws ShardkeeperConfigurationException when one is an offset that cannot be one
	 * of the source
	 */
	public StartPositions(ShardSource source, CheckpointStore checkpoints, Map<String, StartPosition> positions,
			MonotonicClock clock) {
		this.clock = clock;
		this.source = source;
		this.checkpoints = checkpoints;
		this.positions = Map.copyOf(positions);
		this.positions.forEach(this::check);
	}

	private void check(String topic, StartPosition position) {
		if (!(position instanceof StartPosition.From)) {
			return;
		}
		try {
			this.source.before(position, List.of(ShardId.of(topic, 0)));
		}
		catch (IllegalArgumentException ex) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.start' is '%s', which is neither 'earliest' nor 'latest' nor a time nor an offset: %s."
						.formatted(topic, position, ex.getMessage()),
					"Set it to 'earliest', 'latest', a time like '2026-11-21T10:00:00Z', or the offset of the first record that is wanted.",
					ex);
		}
	}

	/**
	 * The application begins to consume topics; what comes from now on is not too early
	 * for "latest". Again when the store may have forgotten that.
	 * @param topics the topics
	 * @throws io.github.shardkeeper.StoreUnavailableException when the store does not
	 * answer; then this begins with the first shard
	 */
	void consume(Collection<String> topics) {
		topics.stream().filter(this::isLatest).forEach(this::ask);
	}

	/**
	 * Lets a reader begin where it should.
	 * @param reader the reader
	 * @return the same one, but for shards that are started without an offset
	 */
	ShardReader over(ShardReader reader) {
		return this.positions.isEmpty() ? reader : new PositionedReader(reader, this::before);
	}

	/** The offset after which to begin, {@code null} for the first record. */
	private @Nullable Offset before(ShardId shard) {
		StartPosition position = position(shard.topic());
		return (position != null) ? this.source.before(position, List.of(shard)).get(shard) : null;
	}

	private boolean isLatest(String topic) {
		return this.positions.get(topic) instanceof StartPosition.Latest;
	}

	private @Nullable StartPosition position(String topic) {
		if (!isLatest(topic)) {
			return this.positions.get(topic);
		}
		Moment known = this.moments.get(topic);
		if (known != null && known.asked().until(this.clock.now()).compareTo(FRESH) < 0) {
			return known.position();
		}
		return ask(topic);
	}

	/** Says what is known, too: the store may have forgotten it. */
	private StartPosition ask(String topic) {
		MonotonicTime now = this.clock.now();
		Moment known = this.moments.get(topic);
		Instant since = this.checkpoints.consumedSince(topic, (known != null) ? known.since() : null);
		this.moments.put(topic, new Moment(since, StartPosition.at(since), now));
		return StartPosition.at(since);
	}

	/** Since when a topic is consumed, and when that was asked. */
	private record Moment(Instant since, StartPosition position, MonotonicTime asked) {

	}

	/**
	 * A reader that starts shards without a committed offset at their start position.
	 * Thread-safe as far as the reader behind it is.
	 */
	private static final class PositionedReader implements ShardReader {

		private final ShardReader reader;

		private final Function<ShardId, @Nullable Offset> before;

		/**
		 * Creates a reader over another one.
		 * @param before tells by shard the offset after which to begin, {@code null} for
		 * the first record; may ask the store for it
		 */
		PositionedReader(ShardReader reader, Function<ShardId, @Nullable Offset> before) {
			this.reader = reader;
			this.before = before;
		}

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
			this.reader.start(shard, (after != null) ? after : this.before.apply(shard), sink);
		}

		@Override
		public void stop(ShardId shard) {
			this.reader.stop(shard);
		}

		@Override
		public void resume(ShardId shard) {
			this.reader.resume(shard);
		}

		@Override
		public boolean poll() throws InterruptedException {
			return this.reader.poll();
		}

		@Override
		public Map<ShardId, String> problems() {
			return this.reader.problems();
		}

		@Override
		public void close() {
			this.reader.close();
		}

	}

}
