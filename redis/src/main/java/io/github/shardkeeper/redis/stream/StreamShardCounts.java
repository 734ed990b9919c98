package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongConsumer;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Shard counts of the topics, as Redis keeps them:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;}:topic     hash: shards
 * </pre>
 *
 * The first instance that finds no count writes the configured one. After that the count
 * only rises. An instance that knows a higher count than Redis, because Redis has lost a
 * raise, writes it back. {@code raise-shard-count.lua} does all of that. Counts are read
 * again when they are needed and older than 5 s, but never while nobody consumes or
 * sends. An instance that writes a {@link ReadPulse} reads them with the same command,
 * {@code write-pulse.lua}. Thread-safe.
 */
final class StreamShardCounts {

	/** Time after which a raise is known everywhere, as long as Redis replies. */
	static final Duration FRESH = Duration.ofSeconds(5);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private static final Logger logger = PrintableLogger.of(StreamShardCounts.class);

	private static final LuaScript RAISE = LuaScript.load(StreamShardCounts.class, ScriptOutputType.INTEGER,
			"raise-shard-count.lua");

	private static final LuaScript WRITE_PULSE = LuaScript.load(StreamShardCounts.class, ScriptOutputType.MULTI,
			"write-pulse.lua");

	private static final String FIELD = "shards";

	private final RedisLink<byte[]> link;

	/** For counts: a lost raise loses access to the records of the new shards. */
	private final ReplicatedLink<byte[]> writes;

	private final String keyPrefix;

	private final Map<String, Integer> configured;

	private final Runnable onChange;

	private volatile Map<String, TopicShards> known;

	private final AtomicLong dueAtNanos = new AtomicLong(System.nanoTime());

	private final OrphanedStreams orphans;

	private volatile LongConsumer onRefresh = (nowNanos) -> {
	};

	private final Map<String, StoreUnavailableException> refused = new ConcurrentHashMap<>();

	/** Logged counts that differ from the configured ones, by topic. */
	private final Map<String, Integer> reportedDifferences = new HashMap<>();

	StreamShardCounts(RedisLink<byte[]> link, ReplicatedLink<byte[]> writes, String keyPrefix,
			Function<ShardId, String> streamKey, Map<String, Integer> configured, Runnable onChange) {
		this.link = link;
		this.writes = writes;
		this.keyPrefix = keyPrefix;
		this.configured = Map.copyOf(configured);
		this.onChange = onChange;
		this.orphans = new OrphanedStreams(link, link.background(), streamKey, System.nanoTime());
		Map<String, TopicShards> none = new TreeMap<>();
		configured.keySet().forEach((topic) -> none.put(topic, TopicShards.NONE));
		this.known = Collections.unmodifiableMap(none);
	}

	/** Sets who hears the time when Redis has told the counts; must not block. */
	void onRefresh(LongConsumer listener) {
		this.onRefresh = listener;
		if (isKnown()) {
			listener.accept(System.nanoTime());
		}
	}

	Map<String, TopicShards> known() {
		return this.known;
	}

	boolean isKnown() {
		return !this.known.containsValue(TopicShards.NONE);
	}

	boolean isKnown(String topic) {
		return this.known.get(topic) != TopicShards.NONE;
	}

	/** Returns why topics, or shards of them, are not consumed although Redis replies. */
	Map<String, String> problems() {
		Map<String, String> problems = new TreeMap<>(this.orphans.problems());
		this.refused.forEach((topic, failure) -> {
			if (!isKnown(topic)) {
				problems.put(topic, notKnown(topic) + failure.getMessage());
			}
		});
		return problems;
	}

	private static String notKnown(String topic) {
		return "The number of shards of '" + topic + "' is not known, so none of them is consumed. ";
	}

	private boolean isDue() {
		long due = this.dueAtNanos.get();
		return System.nanoTime() - due >= 0 && this.dueAtNanos.compareAndSet(due, System.nanoTime() + FRESH.toNanos());
	}

	void refreshIfDue() {
		if (isDue()) {
			refresh();
		}
	}

	void beginRefreshIfDue() {
		if (!isDue()) {
			return;
		}
		List<String> topics = List.copyOf(this.configured.keySet());
		try {
			List<CompletableFuture<byte[]>> replies = this.link.sendAll(reads(topics));
			for (int i = 0; i < topics.size(); i++) {
				String topic = topics.get(i);
				replies.get(i).whenComplete((count, failure) -> answered(topic, count, failure));
			}
		}
		catch (StoreUnavailableException ex) {
			retryLater(ex);
		}
	}

	/**
	 * Writes a key and reads the counts of all topics, without waiting. Not on Redis
	 * Cluster.
	 * @param expiry time after which the key is removed
	 */
	CompletableFuture<?> readWithPulse(String pulseKey, Duration expiry) {
		List<String> topics = List.copyOf(this.configured.keySet());
		List<String> keys = new ArrayList<>(List.of(pulseKey));
		topics.forEach((topic) -> keys.add(key(topic)));
		this.dueAtNanos.set(System.nanoTime() + FRESH.toNanos());
		CompletableFuture<List<byte[]>> reply = this.link.send(WRITE_PULSE, keys,
				List.of(bytes(Long.toString(expiry.toMillis()))));
		reply.whenComplete((counts, failure) -> {
			if (failure != null) {
				// The pulse may be refused, and the counts not.
				this.dueAtNanos.set(System.nanoTime());
				return;
			}
			for (int i = 0; i < topics.size(); i++) {
				byte[] count = counts.get(i);
				answered(topics.get(i), (count.length > 0) ? count : null, null);
			}
		});
		return reply;
	}

	private List<AsyncCommand<String, byte[], byte[]>> reads(List<String> topics) {
		List<AsyncCommand<String, byte[], byte[]>> reads = new ArrayList<>();
		topics.forEach((topic) -> reads
			.add(new AsyncCommand<>(new Command<>(CommandType.HGET, new ValueOutput<>(RedisStreamSource.CODEC),
					new CommandArgs<>(RedisStreamSource.CODEC).addKey(key(topic)).add(FIELD)))));
		return reads;
	}

	private void answered(String topic, byte @Nullable [] count, @Nullable Throwable failure) {
		try {
			if (failure instanceof StoreUnavailableException unavailable && unavailable.isRefusal()) {
				refused(topic, unavailable);
			}
			else if (failure != null) {
				retryLater(failure);
			}
			else if (count != null && count(topic, count) >= knownOf(topic)) {
				learn(Map.of(topic, count(topic, count)));
			}
			else {
				// First use, an emptied Redis or a lost raise: the count has to be
				// written.
				CompletableFuture.runAsync(this::refresh, this.link.background()).exceptionally(this::retryLater);
			}
		}
		catch (StoreUnavailableException ex) {
			refused(topic, ex);
		}
	}

	/** Logs each refusal once: it lasts until somebody repairs the key. */
	private void refused(String topic, StoreUnavailableException failure) {
		StoreUnavailableException before = this.refused.put(topic, failure);
		if (before == null || !Objects.equals(before.getMessage(), failure.getMessage())) {
			logger.warn("{}{}",
					isKnown(topic)
							? "The number of shards of '" + topic + "' cannot be read, so new shards are not detected. "
							: notKnown(topic),
					failure.getMessage());
		}
	}

	private @Nullable Void retryLater(Throwable failure) {
		this.dueAtNanos.set(System.nanoTime() + PAUSE_AFTER_FAILURE.toNanos());
		logger.debug("Cannot read the topics' numbers of shards", failure);
		return null;
	}

	/** Reads the counts of all topics; fails if this topic's cannot be read. */
	void refresh(String topic) {
		refresh();
		StoreUnavailableException refusal = this.refused.get(topic);
		if (refusal != null) {
			throw refusal;
		}
	}

	/**
	 * Reads the counts of all topics, and writes those that Redis does not know.
	 * @throws StoreUnavailableException when Redis does not reply
	 */
	void refresh() {
		try {
			this.dueAtNanos.set(System.nanoTime() + FRESH.toNanos());
			readOrWrite();
		}
		catch (StoreUnavailableException ex) {
			retryLater(ex);
			throw ex;
		}
	}

	private void readOrWrite() {
		Map<String, Integer> counts = read(this.configured.keySet());
		for (String topic : this.configured.keySet()) {
			Integer count = counts.get(topic);
			int known = knownOf(topic);
			if (count != null && count < known) {
				logger.warn(
						"Redis has lost a raise: it has {} shards for '{}', but there were {} before. Writing it back",
						count, topic, known);
			}
			if (count == null ? !this.refused.containsKey(topic) : count < known) {
				counts.put(topic, write(topic, (known > 0) ? known : Objects.requireNonNull(this.configured.get(topic)),
						known > 0));
			}
		}
		learn(counts);
	}

	/** Returns the known count, also when Redis has lost it; 0 for none. */
	private int knownOf(String topic) {
		return this.known.getOrDefault(topic, TopicShards.NONE).count();
	}

	private int write(String topic, int shards, boolean raise) {
		Long count = this.writes.run(RAISE, List.of(key(topic)),
				List.of(bytes(Integer.toString(shards)), bytes(raise ? "1" : "0")));
		return count.intValue();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private Map<String, Integer> read(Collection<String> topics) {
		List<String> order = List.copyOf(topics);
		Map<String, StoreUnavailableException> refusals = new HashMap<>();
		List<byte @Nullable []> found = this.link.callEach(reads(order),
				(place, failure) -> refusals.put(order.get(place), failure));
		Map<String, Integer> counts = new HashMap<>();
		int i = 0;
		for (String topic : order) {
			byte[] count = found.get(i++);
			try {
				if (count != null) {
					counts.put(topic, count(topic, count));
				}
			}
			catch (StoreUnavailableException ex) {
				refusals.put(topic, ex);
			}
		}
		order.forEach((topic) -> {
			if (!refusals.containsKey(topic)) {
				this.refused.remove(topic);
			}
		});
		refusals.forEach(this::refused);
		return counts;
	}

	private int count(String topic, byte[] bytes) {
		String text = new String(bytes, StandardCharsets.UTF_8);
		int count = text.matches("[1-9][0-9]{0,5}") ? Integer.parseInt(text) : 0;
		if (count < 1 || count > TopicShards.MOST_SHARDS) {
			throw new StoreUnavailableException("Redis: the field 'shards' of " + key(topic) + " is '" + text
					+ "'; set it to the number of shards that the topic has", null, true);
		}
		return count;
	}

	/** Ignores counts that became lower: there are records in those shards. */
	private void learn(Map<String, Integer> counts) {
		boolean changed = false;
		synchronized (this) {
			Map<String, TopicShards> next = new TreeMap<>(this.known);
			for (Map.Entry<String, Integer> entry : counts.entrySet()) {
				this.refused.remove(entry.getKey());
				TopicShards shards = TopicShards.count(entry.getValue());
				TopicShards before = next.get(entry.getKey());
				if (before == null || before.count() < shards.count()) {
					next.put(entry.getKey(), shards);
					changed = true;
				}
				logDifference(entry.getKey(), entry.getValue());
			}
			this.known = Collections.unmodifiableMap(next);
		}
		if (changed) {
			this.orphans.requestCheck(System.nanoTime());
			this.onChange.run();
		}
		this.orphans.checkIfDue(this::known, System.nanoTime());
		this.onRefresh.accept(System.nanoTime());
	}

	private void logDifference(String topic, int count) {
		Integer here = this.configured.get(topic);
		if (here == null || here == count || Objects.equals(this.reportedDifferences.put(topic, count), count)) {
			return;
		}
		if (here > count) {
			logger.warn("'shardkeeper.topics.{}.shards' is {}, but the topic has {} shards in Redis, which counts. "
					+ "Raise it there with ShardTopics.raise, or correct the setting", topic, here, count);
		}
		else {
			logger.info(
					"'shardkeeper.topics.{}.shards' is {}, but the topic has {} shards in Redis, "
							+ "which counts. Give the setting the same number with the next deployment",
					topic, here, count);
		}
	}

	int raise(String topic, int shards) {
		if (!this.configured.containsKey(topic)) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic,
					new TreeSet<>(this.configured.keySet()));
		}
		TopicShards.requirePossible(topic, shards);
		refresh(topic);
		int count = write(topic, shards, true);
		if (count > shards) {
			throw new IllegalArgumentException(
					("The topic '%s' has %d shards already, and cannot have fewer: nobody would read what is in the "
							+ "others. Send to a new topic instead")
						.formatted(topic, count));
		}
		learn(Map.of(topic, count));
		return count;
	}

	private String key(String topic) {
		return this.keyPrefix + ":{" + topic + "}:topic";
	}

}
