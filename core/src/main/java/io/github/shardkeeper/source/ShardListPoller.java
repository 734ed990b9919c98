package io.github.shardkeeper.source;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Shards of the topics of a source that does not notify of changes. Lists them when it is
 * created and, while there is a listener, at an interval on a thread of its own. If a
 * topic cannot be listed, the shards that were known stay, and the topic has a problem
 * until it can be listed again. Thread-safe.
 */
@Internal
public final class ShardListPoller implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ShardListPoller.class);

	/** Longer than a listing takes that does not hang. */
	private static final Duration SLOW = Duration.ofSeconds(10);

	private final Lister lister;

	private final Duration interval;

	private final MonotonicClock clock;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final Object listing = new Object();

	/** Written while listing. */
	private volatile Map<String, TopicShards> topics;

	/** Written while listing. */
	private volatile Map<String, String> problems = Map.of();

	/** {@code null} if the lister is not being called. */
	private volatile @Nullable Listing underWay;

	/** Number of listeners; guarded by this, as is the thread. */
	private int watching;

	private @Nullable ScheduledThreadPoolExecutor thread;

	/**
	 * Lists the shards for the first time.
	 * @param topics the names of the topics
	 * @param lister lists the shards of a topic
	 * @param interval the time between two listings
	 */
	public ShardListPoller(Set<String> topics, Lister lister, Duration interval) {
		this(topics, lister, interval, MonotonicClock.SYSTEM);
	}

	ShardListPoller(Set<String> topics, Lister lister, Duration interval, MonotonicClock clock) {
		Objects.requireNonNull(topics, "topics must not be null");
		Objects.requireNonNull(lister, "lister must not be null");
		Objects.requireNonNull(interval, "interval must not be null");
		if (interval.toMillis() <= 0) {
			throw new IllegalArgumentException("The interval is %s: use at least 1 ms".formatted(interval));
		}
		this.lister = lister;
		this.interval = interval;
		this.clock = clock;
		Map<String, TopicShards> unknown = new TreeMap<>();
		topics.forEach((topic) -> unknown.put(topic, TopicShards.NONE));
		this.topics = Collections.unmodifiableMap(unknown);
		refresh();
	}

	/**
	 * Returns the shards that were listed last, for {@link ShardSource#topics()}.
	 * @return the shards by topic; {@link TopicShards#NONE} for a topic that could not be
	 * listed yet
	 */
	public Map<String, TopicShards> topics() {
		return this.topics;
	}

	/**
	 * Returns the topics that could not be listed, for {@link ShardSource#problems()},
	 * also one whose listing has not ended for 10 s.
	 * @return the reason by topic
	 */
	public Map<String, String> problems() {
		Map<String, String> known = this.problems;
		Listing listing = this.underWay;
		Duration taken = (listing != null) ? listing.since().until(this.clock.now()) : Duration.ZERO;
		if (listing == null || taken.compareTo(SLOW) <= 0) {
			return known;
		}
		Map<String, String> all = new TreeMap<>(known);
		all.put(listing.topic(),
				"The shards of '%s' are being listed for %d s: the source must return or fail within some seconds"
					.formatted(listing.topic(), taken.toSeconds()));
		return all;
	}

	/**
	 * Registers a listener and starts to list the shards at the interval, for
	 * {@link ShardSource#watch}.
	 * @param onChange the listener
	 * @return the registration
	 */
	public Watch watch(Runnable onChange) {
		Watch watch = this.watchers.add(onChange);
		synchronized (this) {
			if (this.watching++ == 0) {
				this.thread = startThread();
			}
		}
		return new OneWatch(watch);
	}

	private ScheduledThreadPoolExecutor startThread() {
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread created = new Thread(task, "shardkeeper-shard-list");
			created.setDaemon(true);
			return created;
		});
		executor.scheduleWithFixedDelay(this::refresh, 0, this.interval.toMillis(), TimeUnit.MILLISECONDS);
		return executor;
	}

	/**
	 * Lists the shards now, and notifies the listeners if they have changed. Never
	 * throws: that would end the schedule.
	 */
	public void refresh() {
		boolean changed;
		synchronized (this.listing) {
			Map<String, TopicShards> found = new TreeMap<>();
			Map<String, String> failed = new TreeMap<>();
			this.topics.forEach((topic, known) -> found.put(topic, list(topic, known, failed)));
			changed = !found.equals(this.topics);
			this.topics = Collections.unmodifiableMap(found);
			this.problems = Collections.unmodifiableMap(failed);
		}
		if (changed) {
			this.watchers.changed();
		}
		else {
			this.watchers.repeatFailed();
		}
	}

	private TopicShards list(String topic, TopicShards known, Map<String, String> failed) {
		this.underWay = new Listing(topic, this.clock.now());
		try {
			TopicShards found = Objects.requireNonNull(this.lister.list(topic),
					"The source has returned null: return TopicShards.NONE if there are no shards");
			if (this.problems.containsKey(topic)) {
				logger.info("The shards of '{}' are known again", topic);
			}
			return found;
		}
		catch (Throwable ex) {
			// Errors, too: the code of the source must not end the schedule.
			String problem = "The shards of '%s' cannot be listed: %s".formatted(topic,
					PollingShardReader.describe(ex));
			if (!problem.equals(this.problems.get(topic))) {
				logger.warn("{}", problem, ex);
			}
			failed.put(topic, problem);
			return known;
		}
		finally {
			this.underWay = null;
		}
	}

	/** Ends the thread. What is known stays. */
	@Override
	public synchronized void close() {
		if (this.thread != null) {
			this.thread.shutdown();
			this.thread = null;
		}
	}

	/** Lists the shards of a topic. */
	@FunctionalInterface
	public interface Lister {

		/**
		 * Lists the shards of a topic, including closed shards that can still be read.
		 * Returns or fails within some seconds.
		 * @param topic the topic
		 * @return its shards
		 * @throws Exception if they cannot be listed, also for a part of them; retried
		 * after the interval. The message of a {@link RuntimeException} is shown as it is
		 */
		TopicShards list(String topic) throws Exception;

	}

	private record Listing(String topic, MonotonicTime since) {

	}

	private final class OneWatch implements Watch {

		private final Watch watch;

		private boolean closed;

		OneWatch(Watch watch) {
			this.watch = watch;
		}

		@Override
		public void close() {
			this.watch.close();
			synchronized (ShardListPoller.this) {
				if (!this.closed && --ShardListPoller.this.watching == 0) {
					ShardListPoller.this.close();
				}
				this.closed = true;
			}
		}

	}

}
