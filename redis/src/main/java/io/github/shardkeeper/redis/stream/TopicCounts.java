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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;

/**
 * How many shards the topics have. Redis says so:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;}:topic     hash: shards
 * </pre>
 *
 * Who finds nothing there writes what he has: the first one the number of his
 * configuration. After that it can only be raised; who knows more than Redis, which has
 * forgotten it then, raises it again. All of that is {@code raise-shard-count.lua}. It is
 * looked at again when it is needed and older than 5 s; never while nobody consumes or
 * sends. At the beginning, and then every 5 minutes, {@code XLEN} tells whether there are
 * records in shards beyond the number, which nobody reads. Thread-safe.
 */
final class TopicCounts {

	/** What everybody knows after this time, as long as Redis answers. */
	static final Duration FRESH = Duration.ofSeconds(5);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	/** How often is looked for records beyond the shards that are known. */
	private static final Duration BEYOND_INTERVAL = Duration.ofMinutes(5);

	/** So far beyond is looked, or as many shards as there are, if that is more. */
	private static final int LEAST_BEYOND = 64;

	private static final int MOST_BEYOND = 1_000;

	private static final Logger logger = LoggerFactory.getLogger(TopicCounts.class);

	private static final LuaScript RAISE = LuaScript.load(TopicCounts.class, ScriptOutputType.INTEGER,
			"raise-shard-count.lua");

	private static final String FIELD = "shards";

	private static final String LOOK_BEYOND = "detect records in shards above the known number";

	private final RedisLink<byte[]> link;

	/** For the numbers themselves: what is lost of them is lost of the topic. */
	private final ReplicatedLink<byte[]> writes;

	private final String keyPrefix;

	private final Function<ShardId, String> streamKey;

	private final Map<String, Integer> configured;

	private final Runnable onChange;

	/** Replaced as a whole. */
	private volatile Map<String, TopicShards> known;

	private final AtomicLong dueAtNanos = new AtomicLong(System.nanoTime());

	private final AtomicLong beyondDueAtNanos = new AtomicLong(System.nanoTime());

	/** By topic the records that nobody reads. */
	private final Map<String, String> beyond = new ConcurrentHashMap<>();

	/** By topic why its number cannot be read. */
	private final Map<String, StoreUnavailableException> refused = new ConcurrentHashMap<>();

	/** Topics that are configured in another way, as was said. */
	private final Map<String, Integer> told = new HashMap<>();

	TopicCounts(RedisLink<byte[]> link, ReplicatedLink<byte[]> writes, String keyPrefix,
			Function<ShardId, String> streamKey, Map<String, Integer> configured, Runnable onChange) {
		this.link = link;
		this.writes = writes;
		this.keyPrefix = keyPrefix;
		this.streamKey = streamKey;
		this.configured = Map.copyOf(configured);
		this.onChange = onChange;
		Map<String, TopicShards> none = new TreeMap<>();
		configured.keySet().forEach((topic) -> none.put(topic, TopicShards.NONE));
		this.known = Collections.unmodifiableMap(none);
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

	/** Why topics, or some shards of them, are not consumed although Redis answers. */
	Map<String, String> problems() {
		Map<String, String> problems = new TreeMap<>(this.beyond);
		this.refused.forEach((topic, failure) -> {
			if (!isKnown(topic)) {
				problems.put(topic, notKnown(topic) + failure.getMessage());
			}
		});
		return problems;
	}

	private static String notKnown(String topic) {
		return "It is not known how many shards '" + topic + "' has, so none of them is consumed. ";
	}

	private boolean isDue() {
		long due = this.dueAtNanos.get();
		return System.nanoTime() - due >= 0 && this.dueAtNanos.compareAndSet(due, System.nanoTime() + FRESH.toNanos());
	}

	/** Looks if what is known is old; waits for the answer. */
	void lookIfDue() {
		if (isDue()) {
			look();
		}
	}

	/**
	 * Looks if what is known is old, and does not wait for the answer. For who comes
	 * again and again.
	 */
	void beginLookIfDue() {
		if (!isDue()) {
			return;
		}
		List<String> topics = List.copyOf(this.configured.keySet());
		try {
			List<CompletableFuture<byte[]>> answers = this.link.sendAll(reads(topics));
			for (int i = 0; i < topics.size(); i++) {
				String topic = topics.get(i);
				answers.get(i).whenComplete((count, failure) -> answered(topic, count, failure));
			}
		}
		catch (StoreUnavailableException ex) {
			later(ex);
		}
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
				later(failure);
			}
			else if (count != null && count(topic, count) >= knownOf(topic)) {
				learn(Map.of(topic, count(topic, count)));
			}
			else {
				// Redis was emptied, has lost a raise, or it is the first time: that
				// takes more than a look.
				CompletableFuture.runAsync(this::look, this.link.background()).exceptionally(this::later);
			}
		}
		catch (StoreUnavailableException ex) {
			refused(topic, ex);
		}
	}

	/** Asking again changes nothing until somebody mends it: it is said once. */
	private void refused(String topic, StoreUnavailableException failure) {
		StoreUnavailableException before = this.refused.put(topic, failure);
		if (before == null || !Objects.equals(before.getMessage(), failure.getMessage())) {
			logger.warn("{}{}",
					isKnown(topic)
							? "It cannot be read how many shards '" + topic + "' has, so new ones would not be seen. "
							: notKnown(topic),
					failure.getMessage());
		}
	}

	private @Nullable Void later(Throwable failure) {
		this.dueAtNanos.set(System.nanoTime() + PAUSE_AFTER_FAILURE.toNanos());
		logger.debug("Cannot ask how many shards the topics have", failure);
		return null;
	}

	/**
	 * Asks Redis for one topic, and looks at all of them on the way.
	 * @throws StoreUnavailableException when it cannot be asked, or cannot say
	 */
	void look(String topic) {
		look();
		StoreUnavailableException refusal = this.refused.get(topic);
		if (refusal != null) {
			throw refusal;
		}
	}

	/**
	 * Asks Redis, and writes what it does not know.
	 * @throws StoreUnavailableException when it cannot be asked
	 */
	void look() {
		try {
			this.dueAtNanos.set(System.nanoTime() + FRESH.toNanos());
			readOrWrite();
		}
		catch (StoreUnavailableException ex) {
			later(ex);
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
						"According to Redis '{}' has {} shards, but it had {}: Redis has lost a raise. Writing it back",
						topic, count, known);
			}
			if (count == null ? !this.refused.containsKey(topic) : count < known) {
				counts.put(topic, write(topic, (known > 0) ? known : Objects.requireNonNull(this.configured.get(topic)),
						known > 0));
			}
		}
		learn(counts);
	}

	/** What is known from before Redis has forgotten it; 0 for nothing. */
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
		// One topic's key keeps nobody from the others.
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

	/** What became lower is not followed: there are records in those shards. */
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
				tellDifference(entry.getKey(), entry.getValue());
			}
			this.known = Collections.unmodifiableMap(next);
		}
		if (changed) {
			this.beyondDueAtNanos.set(System.nanoTime());
			this.onChange.run();
		}
		long due = this.beyondDueAtNanos.get();
		if (System.nanoTime() - due >= 0
				&& this.beyondDueAtNanos.compareAndSet(due, System.nanoTime() + BEYOND_INTERVAL.toNanos())) {
			CompletableFuture.runAsync(this::lookBeyond, this.link.background()).exceptionally((failure) -> {
				logger.debug("Cannot look for records beyond the topics' shards", failure);
				return null;
			});
		}
	}

	/** A number that was lost with all who knew it leaves records that nobody reads. */
	private void lookBeyond() {
		this.known.forEach((topic, shards) -> {
			int count = shards.count();
			if (count == 0) {
				return;
			}
			int last = Math.min(TopicShards.MOST_SHARDS, count + Math.min(MOST_BEYOND, Math.max(LEAST_BEYOND, count)));
			List<ShardId> unknown = new ArrayList<>();
			for (int id = count; id < last; id++) {
				unknown.add(ShardId.of(topic, id));
			}
			List<AsyncCommand<String, byte[], Long>> lengths = new ArrayList<>();
			unknown.forEach((shard) -> lengths
				.add(new AsyncCommand<>(new Command<>(CommandType.XLEN, new IntegerOutput<>(RedisStreamSource.CODEC),
						new CommandArgs<>(RedisStreamSource.CODEC).addKey(this.streamKey.apply(shard))))));
			AtomicBoolean refused = new AtomicBoolean();
			List<@Nullable Long> found = this.link.callEach(lengths, (place, failure) -> {
				logger.debug("Not a stream: {}", unknown.get(place), failure);
				this.link.refusedSteps().failed(LOOK_BEYOND, failure);
				refused.set(true);
			});
			if (!refused.get()) {
				this.link.refusedSteps().done(LOOK_BEYOND);
			}
			ShardId highest = null;
			for (int i = 0; i < unknown.size(); i++) {
				Long length = found.get(i);
				highest = (length != null && length > 0) ? unknown.get(i) : highest;
			}
			tellBeyond(topic, count, highest);
		});
	}

	private void tellBeyond(String topic, int count, @Nullable ShardId highest) {
		if (highest == null) {
			this.beyond.remove(topic);
			return;
		}
		String problem = ("The topic '%s' has %d shards, but there are records in shard %s (%s), which nobody reads. "
				+ "If Redis has lost a raise, raise the topic again: ShardTopics.raise(\"%1$s\", %d) or more. "
				+ "Otherwise remove the stream with DEL")
			.formatted(topic, count, highest.id(), this.streamKey.apply(highest), Integer.parseInt(highest.id()) + 1);
		if (!problem.equals(this.beyond.put(topic, problem))) {
			logger.warn("{}", problem);
		}
	}

	private void tellDifference(String topic, int count) {
		Integer here = this.configured.get(topic);
		if (here == null || here == count || Objects.equals(this.told.put(topic, count), count)) {
			return;
		}
		if (here > count) {
			logger.warn("'shardkeeper.topics.{}.shards' is {}, but the topic has {} shards in Redis, which holds. "
					+ "Raise it there with ShardTopics.raise, or correct the setting", topic, here, count);
		}
		else {
			logger.info(
					"'shardkeeper.topics.{}.shards' is {}, but the topic was raised to {} shards in Redis, "
							+ "which holds. Give the setting the same number with the next deployment",
					topic, here, count);
		}
	}

	int raise(String topic, int shards) {
		if (!this.configured.containsKey(topic)) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic,
					new TreeSet<>(this.configured.keySet()));
		}
		TopicShards.requirePossible(topic, shards);
		look(topic);
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
