package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardSource.Watch;

/**
 * The known shards of all logstores. Lists them at an interval while somebody uses them,
 * on the thread {@code shardkeeper-sls-shards}, and sooner while a listing fails.
 * Thread-safe.
 */
final class ShardLists implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ShardLists.class);

	private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

	private final SlsClient client;

	private final Duration interval;

	private final LongSupplier nanoTime;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final Map<String, Listing> listings = new TreeMap<>();

	private final ScheduledThreadPoolExecutor executor;

	/** Guarded by this. */
	private int users;

	/** Guarded by this. */
	private boolean scheduled;

	ShardLists(SlsClient client, SlsSettings settings, LongSupplier nanoTime) {
		this.client = client;
		this.interval = settings.shardListInterval();
		this.nanoTime = nanoTime;
		settings.topics().keySet().forEach((topic) -> this.listings.put(topic, new Listing(topic)));
		this.executor = Threads.scheduler("shardkeeper-sls-shards", 1);
	}

	Map<String, TopicShards> topics() {
		Map<String, TopicShards> topics = new TreeMap<>();
		this.listings.forEach((topic, listing) -> {
			LogstoreShards shards = listing.shards;
			topics.put(topic, (shards != null) ? shards.topicShards() : TopicShards.NONE);
		});
		return topics;
	}

	/** Returns the topics whose shards are not known, with the reason. */
	Map<String, String> problems() {
		Map<String, String> problems = new ConcurrentHashMap<>();
		this.listings.forEach((topic, listing) -> {
			String problem = listing.problem;
			if (problem != null && (listing.shards == null || listing.refused)) {
				problems.put(topic, problem);
			}
		});
		return problems;
	}

	/**
	 * Returns what is known of a topic's shards, {@code null} before the first answer.
	 */
	@Nullable LogstoreShards known(String topic) {
		Listing listing = this.listings.get(topic);
		return (listing != null) ? listing.shards : null;
	}

	/**
	 * Lists the shards of a topic unless that was done recently.
	 * @throws SlsFailure if it fails
	 */
	LogstoreShards refresh(String topic, Duration maxAge) {
		Listing listing = this.listings.get(topic);
		if (listing == null) {
			throw SlsFailure.refused("'%s' is no topic of this source".formatted(topic));
		}
		boolean changed;
		LogstoreShards shards;
		synchronized (listing) {
			LogstoreShards before = listing.shards;
			if (before != null && this.nanoTime.getAsLong() - listing.readAtNanos <= maxAge.toNanos()) {
				return before;
			}
			shards = read(listing);
			changed = before == null || !before.topicShards().equals(shards.topicShards());
		}
		if (changed) {
			this.watchers.changed();
		}
		return shards;
	}

	private LogstoreShards read(Listing listing) {
		try {
			LogstoreShards shards = LogstoreShards.of(this.client.shards(listing.topic));
			if (listing.problem != null) {
				logger.info("The shards of the topic '{}' can be listed again", listing.topic);
			}
			listing.problem = null;
			listing.refused = false;
			listing.shards = shards;
			listing.readAtNanos = this.nanoTime.getAsLong();
			return shards;
		}
		catch (StoreUnavailableException ex) {
			if (listing.problem == null && !this.executor.isShutdown()) {
				logger.warn("Cannot list the shards of the topic '{}'; retrying. {}", listing.topic, ex.getMessage());
			}
			listing.problem = ex.getMessage();
			listing.refused = ex.isRefusal();
			throw ex;
		}
	}

	/** Registers a listener; the shards are listed until it is closed. */
	Watch watch(Runnable onChange) {
		Watch watch = this.watchers.add(onChange);
		Watch use = use();
		return () -> {
			watch.close();
			use.close();
		};
	}

	/** Lists the shards at the interval until the result is closed. */
	Watch use() {
		synchronized (this) {
			this.users++;
			if (!this.scheduled) {
				this.scheduled = true;
				schedule(Duration.ZERO);
			}
		}
		boolean[] closed = new boolean[1];
		return () -> {
			synchronized (this) {
				if (!closed[0]) {
					closed[0] = true;
					this.users--;
				}
			}
		};
	}

	private void schedule(Duration delay) {
		try {
			this.executor.schedule(this::listAll, delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Closed", ex);
		}
	}

	private void listAll() {
		boolean failed = false;
		try {
			for (String topic : this.listings.keySet()) {
				failed |= !list(topic);
			}
		}
		finally {
			synchronized (this) {
				this.scheduled = this.users > 0;
				if (this.scheduled) {
					schedule((failed && FIRST_RETRY.compareTo(this.interval) < 0) ? FIRST_RETRY : this.interval);
				}
			}
		}
	}

	private boolean list(String topic) {
		try {
			refresh(topic, Duration.ZERO);
			return true;
		}
		catch (StoreUnavailableException ex) {
			return false;
		}
		catch (RuntimeException ex) {
			// A listener's; the next listing must still come.
			logger.error("The shards of the topic '{}' could not be passed on", topic, ex);
			return false;
		}
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

	/** Written under its own lock. */
	private static final class Listing {

		private final String topic;

		private volatile @Nullable LogstoreShards shards;

		private volatile @Nullable String problem;

		private volatile boolean refused;

		private long readAtNanos;

		Listing(String topic) {
			this.topic = topic;
		}

	}

}
