package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Finds groups that use a topic of this instance with another number of shards or in
 * another format: the names of topics are global in a Redis, so they may belong to an
 * application that does not know of this one. Groups are recorded in
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;}:topic   hash: user:&lt;group&gt;, see record-topic-user.lua
 * </pre>
 *
 * Groups with the same number and format are not told apart. Thread-safe.
 */
public final class TopicUsers {

	private static final Logger logger = PrintableLogger.of(TopicUsers.class);

	private static final Duration INTERVAL = Duration.ofMinutes(1);

	/** Time after which a group counts no more that has stopped, or left the topic. */
	private static final Duration FORGOTTEN_AFTER = INTERVAL.multipliedBy(10);

	private static final LuaScript RECORD = LuaScript.load(TopicUsers.class, ScriptOutputType.MULTI,
			"record-topic-user.lua");

	private static final String COMPARING = "compare how groups use topics";

	private final RedisLink<byte[]> link;

	private final String keyPrefix;

	private final String group;

	private final Map<String, Integer> shards;

	private final Function<String, String> formats;

	private final Map<String, String> problems = new ConcurrentHashMap<>();

	private @Nullable Long recordedAtNanos;

	/**
	 * Creates an instance that has recorded nothing.
	 * @param shards the topics with the numbers of shards in the settings
	 * @param formats the formats of payloads by topic
	 */
	public TopicUsers(RedisConnector connector, String keyPrefix, String group, Map<String, Integer> shards,
			Function<String, String> formats, Duration timeout) {
		this.link = connector.dataLink(timeout);
		this.keyPrefix = keyPrefix;
		this.group = group;
		this.shards = Map.copyOf(shards);
		this.formats = formats;
	}

	/** Records this group and compares it with others, without waiting. */
	public synchronized void recordIfDue(long nowNanos) {
		Long last = this.recordedAtNanos;
		if (last == null || nowNanos - last >= INTERVAL.toNanos()) {
			this.recordedAtNanos = nowNanos;
			this.shards.forEach(this::record);
		}
	}

	private void record(String topic, int count) {
		try {
			this.link.<List<byte[]>>send(RECORD, List.of(this.keyPrefix + ":{" + topic + "}:topic"),
					List.of(bytes(this.group), bytes(Integer.toString(count)), bytes(this.formats.apply(topic)),
							bytes(Long.toString(FORGOTTEN_AFTER.toMillis()))))
				.whenComplete((others, failure) -> {
					if (failure == null) {
						this.link.refusedOperations().succeeded(COMPARING);
						compared(topic, count, others);
					}
					else {
						this.link.refusedOperations().failed(COMPARING, failure);
						logger.debug("The users of the topic '{}' are not known", topic, failure);
					}
				});
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The users of the topic '{}' are not known", topic, ex);
		}
	}

	private void compared(String topic, int count, List<byte[]> others) {
		if (others.isEmpty()) {
			this.problems.remove(topic);
			return;
		}
		List<String> uses = new ArrayList<>();
		for (int i = 0; i < others.size(); i += 3) {
			uses.add("group '%s' with %s shards and payloads as %s".formatted(text(others.get(i)),
					text(others.get(i + 1)), text(others.get(i + 2))));
		}
		String problem = ("The topic '%1$s' is used by this group '%2$s' with %3$d shards and payloads as %4$s, but by %5$s. "
				+ "The name of a topic is global in a Redis: if these are applications that do not know of each other, they "
				+ "receive each other's records; give one of them another topic name or 'shardkeeper.key-prefix'. If they "
				+ "share the topic, give them the same 'shardkeeper.topics.%1$s.shards' and PayloadConverter")
			.formatted(topic, this.group, count, this.formats.apply(topic), String.join(", ", uses));
		if (!problem.equals(this.problems.put(topic, problem))) {
			logger.warn("{}", problem);
		}
	}

	/** Returns by topic what other groups do differently. */
	public Map<String, String> problems() {
		return new TreeMap<>(this.problems);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
