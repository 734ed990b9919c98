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

import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardSource.OpenShards;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The known shards of all logstores. Lists them at an interval while somebody uses them,
 * on the thread {@code shardkeeper-sls-shards}; a list that fails is repeated sooner,
 * after pauses that grow to the interval. Listeners are called after each list.
 * Thread-safe.
 */
final class ShardLists implements AutoCloseable {

	private static final Logger logger = PrintableLogger.of(ShardLists.class);

	private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

	private final SlsClient client;

	private final Duration interval;

	private final LongSupplier nanoTime;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final Map<String, Listing> listings = new TreeMap<>();

	private final ScheduledThreadPoolExecutor executor;

	/** Guarded by this. */
	private int users;

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
			Reply last = listing.last;
			topics.put(topic, (last != null) ? last.shards().topicShards() : TopicShards.NONE);
		});
		return topics;
	}

	/** Returns the topics whose shards are not known, with the reason. */
	Map<String, String> problems() {
		Map<String, String> problems = new ConcurrentHashMap<>();
		this.listings.forEach((topic, listing) -> {
			String problem = listing.problem;
			if (problem != null && (listing.last == null || listing.refused)) {
				problems.put(topic, problem);
			}
		});
		return problems;
	}

	/**
	 * Returns the shards that can be written to, of the topics whose shards are known.
	 */
	Map<String, OpenShards> open() {
		Map<String, OpenShards> open = new TreeMap<>();
		this.listings.forEach((topic, listing) -> {
			Reply last = listing.last;
			if (last != null) {
				open.put(topic, new OpenShards(last.shards().writable(), age(last)));
			}
		});
		return open;
	}

	private Duration age(Reply reply) {
		return Duration.ofNanos(this.nanoTime.getAsLong() - reply.requestedAtNanos());
	}

	/**
	 * Returns what is known of a topic's shards, {@code null} before the first reply.
	 */
	@Nullable LogstoreShards known(String topic) {
		Listing listing = this.listings.get(topic);
		Reply last = (listing != null) ? listing.last : null;
		return (last != null) ? last.shards() : null;
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
		Reply before;
		Reply after;
		synchronized (listing) {
			before = listing.last;
			if (before != null && age(before).compareTo(maxAge) <= 0) {
				return before.shards();
			}
			after = read(listing);
		}
		if (before == null || !before.shards().topicShards().equals(after.shards().topicShards())) {
			this.watchers.changed();
		}
		return after.shards();
	}

	private Reply read(Listing listing) {
		try {
			long requestedAtNanos = this.nanoTime.getAsLong();
			Reply reply = new Reply(LogstoreShards.of(this.client.shards(listing.topic)), requestedAtNanos);
			if (listing.problem != null) {
				logger.info("The shards of the topic '{}' can be listed again", listing.topic);
			}
			listing.problem = null;
			listing.refused = false;
			listing.last = reply;
			return reply;
		}
		catch (SlsFailure ex) {
			throw failed(listing, ex);
		}
		catch (RuntimeException | Error ex) {
			throw failed(listing,
					SlsFailure.unexpected("list the shards of the topic '%s'".formatted(listing.topic), ex));
		}
	}

	private SlsFailure failed(Listing listing, SlsFailure failure) {
		if (listing.problem == null && !this.executor.isShutdown()) {
			logger.warn("Cannot list the shards of the topic '{}'; retrying. {}", listing.topic, failure.getMessage());
		}
		listing.problem = failure.getMessage();
		listing.refused = failure.isRefusal();
		return failure;
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
			for (Listing listing : this.listings.values()) {
				if (!listing.scheduled) {
					schedule(listing, Duration.ZERO);
				}
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

	private void schedule(Listing listing, Duration delay) {
		listing.scheduled = true;
		try {
			this.executor.schedule(() -> list(listing), delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Closed", ex);
		}
	}

	private void list(Listing listing) {
		Duration pause = this.interval;
		try {
			synchronized (listing) {
				read(listing);
			}
			listing.failures = 0;
			// Also if the shards are the same: their age has changed.
			this.watchers.changed();
		}
		catch (SlsFailure ex) {
			pause = RetryPause.after(++listing.failures, FIRST_RETRY, this.interval);
		}
		catch (RuntimeException | Error ex) {
			// A listener's; it is called again after the next list.
			logger.error("The shards of the topic '{}' could not be passed on", listing.topic, ex);
		}
		finally {
			synchronized (this) {
				listing.scheduled = false;
				if (this.users > 0) {
					schedule(listing, pause);
				}
			}
		}
	}

	@Override
	public void close() {
		this.executor.shutdownNow();
	}

	/**
	 * Reply to a request. Immutable.
	 *
	 * @param requestedAtNanos the time at which it was sent: what has changed later may
	 * be missing
	 */
	private record Reply(LogstoreShards shards, long requestedAtNanos) {

	}

	/** Written under its own lock, unless stated otherwise. */
	private static final class Listing {

		private final String topic;

		private volatile @Nullable Reply last;

		private volatile @Nullable String problem;

		private volatile boolean refused;

		/** Guarded by the lists. */
		private boolean scheduled;

		/** Failures in a row; confined to the thread. */
		private int failures;

		Listing(String topic) {
			this.topic = topic;
		}

	}

}
