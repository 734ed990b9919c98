package io.github.shardkeeper.source.fixed;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardListPoller;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;

/**
 * Source of topics without records, whose shards are tasks: tenants, tables, mail boxes,
 * ranges of ids. Their lists are {@linkplain TopicShards#exactly() exact}. Names of
 * {@link ShardNames} are listed once at first, and then only while somebody watches.
 * Thread-safe.
 */
@Internal
public final class FixedShardSource implements ShardSource {

	/** Any offset that is not a position in a schedule: the schedule starts over. */
	private static final Offset BEGINNING = new Offset("beginning");

	private static final Duration MIN_INTERVAL = Duration.ofMillis(100);

	private static final int MOST_REFUSED_SHOWN = 5;

	private final Map<String, TopicShards> fixed = new TreeMap<>();

	private final List<ShardListPoller> changing = new ArrayList<>();

	/** Problems of the topics with names that are not valid. */
	private final Map<String, String> refused = new ConcurrentHashMap<>();

	/**
	 * Creates a source.
	 * @param fixed the shards by topic, see {@link #count} and {@link #names}
	 * @param changing the topics whose shards may change at run time
	 */
	public FixedShardSource(Map<String, TopicShards> fixed, Map<String, ShardNames> changing) {
		Objects.requireNonNull(fixed, "fixed must not be null");
		Objects.requireNonNull(changing, "changing must not be null");
		fixed.forEach((topic, shards) -> this.fixed.put(topic, shards.exactly()));
		changing.forEach((topic, names) -> this.changing
			.add(new ShardListPoller(Set.of(topic), (name) -> listed(name, names.names(name)), interval(names))));
	}

	private static Duration interval(ShardNames names) {
		Duration interval = names.interval();
		return (interval.compareTo(MIN_INTERVAL) < 0) ? MIN_INTERVAL : interval;
	}

	/**
	 * Returns the shards {@code 0} to {@code count - 1} as an exact list.
	 * @param count the number of shards
	 * @return the shards
	 */
	public static TopicShards count(int count) {
		return TopicShards.count(count).exactly();
	}

	/**
	 * Returns shards with names as an exact list.
	 * @param topic the topic, for the message
	 * @param names the names of the shards
	 * @return the shards
	 * @throws ShardkeeperConfigurationException if a name breaks the rule of
	 * {@link Names}, or there are too many
	 */
	public static TopicShards names(String topic, Collection<String> names) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(names, "names must not be null");
		names.forEach((name) -> Names.requireValid(String.valueOf(name), "the list of shards of '" + topic + "'"));
		return list(topic, names);
	}

	private static TopicShards list(String topic, Collection<String> names) {
		TopicShards.requirePossible(topic, names.size());
		return TopicShards.ids(names).exactly();
	}

	/** Leaves out names that are not valid: the others are consumed. */
	private TopicShards listed(String topic, Collection<String> names) {
		Objects.requireNonNull(names, "ShardNames.names has returned null; return an empty list for no shards");
		Set<String> valid = new TreeSet<>();
		Set<String> invalid = new TreeSet<>();
		names.forEach((name) -> ((name != null && Names.isValid(name)) ? valid : invalid).add(String.valueOf(name)));
		TopicShards listed = list(topic, valid);
		if (invalid.isEmpty()) {
			this.refused.remove(topic);
		}
		else {
			this.refused.put(topic,
					"%,d names of shards of '%s' are not valid and not consumed, for example '%s'. %s".formatted(
							invalid.size(), topic,
							String.join("', '", invalid.stream().limit(MOST_REFUSED_SHOWN).toList()), Names.RULE));
		}
		return listed;
	}

	@Override
	public Map<String, TopicShards> topics() {
		Map<String, TopicShards> topics = new TreeMap<>(this.fixed);
		this.changing.forEach((poller) -> topics.putAll(poller.topics()));
		return topics;
	}

	@Override
	public boolean hasRecords(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return false;
	}

	@Override
	public Map<String, String> problems() {
		Map<String, String> problems = new TreeMap<>(this.refused);
		this.changing.forEach((poller) -> problems.putAll(poller.problems()));
		return problems;
	}

	@Override
	public Watch watch(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		List<Watch> watches = this.changing.stream().map((poller) -> poller.watch(onChange)).toList();
		return () -> watches.forEach(Watch::close);
	}

	/** Opens a reader that has nothing to read. */
	@Override
	public ShardReader openReader() {
		return new IdleReader();
	}

	/**
	 * Resolves every position to the beginning of the schedule.
	 * @throws IllegalArgumentException if the position is an offset
	 */
	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.From || position instanceof StartPosition.After) {
			throw new IllegalArgumentException(
					"'%s' is an offset, and shards without records have none; a reset to ".formatted(position)
							+ "'earliest' starts their schedule over");
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		shards.forEach((shard) -> offsets.put(shard, BEGINNING));
		return offsets;
	}

	@Override
	public void close() {
		this.changing.forEach(ShardListPoller::close);
	}

	private static final class IdleReader implements ShardReader {

		private static final long WAIT_MILLIS = 2000;

		private boolean closed;

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		}

		@Override
		public void stop(ShardId shard) {
		}

		@Override
		public void resume(ShardId shard) {
		}

		@Override
		public synchronized boolean poll() throws InterruptedException {
			if (!this.closed) {
				wait(WAIT_MILLIS);
			}
			return true;
		}

		@Override
		public Map<ShardId, String> problems() {
			return Map.of();
		}

		@Override
		public synchronized void close() {
			this.closed = true;
			notifyAll();
		}

	}

}
