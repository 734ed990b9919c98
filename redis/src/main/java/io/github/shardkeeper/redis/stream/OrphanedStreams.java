package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Finds records in shards above the known count, with {@code XLEN}: nobody reads them.
 * They exist when Redis has lost a raise with all instances that knew of it. Thread-safe.
 */
final class OrphanedStreams {

	private static final Logger logger = PrintableLogger.of(OrphanedStreams.class);

	private static final Duration INTERVAL = Duration.ofMinutes(5);

	/** Shards to check above the count; as many as the topic has, if that is more. */
	private static final int MIN_CHECKED = 64;

	private static final int MAX_CHECKED = 1_000;

	private static final String OPERATION = "detect records in shards above the known number";

	private final RedisLink<byte[]> link;

	private final Executor background;

	private final Function<ShardId, String> streamKey;

	private final AtomicLong dueAtNanos;

	private final Map<String, String> problems = new ConcurrentHashMap<>();

	OrphanedStreams(RedisLink<byte[]> link, Executor background, Function<ShardId, String> streamKey, long nowNanos) {
		this.link = link;
		this.background = background;
		this.streamKey = streamKey;
		this.dueAtNanos = new AtomicLong(nowNanos);
	}

	Map<String, String> problems() {
		return this.problems;
	}

	void requestCheck(long nowNanos) {
		this.dueAtNanos.set(nowNanos);
	}

	/** Checks in the background, if the last check is older than the interval. */
	void checkIfDue(Supplier<Map<String, TopicShards>> topics, long nowNanos) {
		long due = this.dueAtNanos.get();
		if (nowNanos - due >= 0 && this.dueAtNanos.compareAndSet(due, nowNanos + INTERVAL.toNanos())) {
			CompletableFuture
				.runAsync(() -> topics.get().forEach((topic, shards) -> check(topic, shards, topics)), this.background)
				.exceptionally((failure) -> {
					logger.debug("Cannot check for records in shards above the topics' counts", failure);
					return null;
				});
		}
	}

	/**
	 * Checks one topic. One check at a time: the result of a later one must not be
	 * replaced by that of an earlier one.
	 */
	private synchronized void check(String topic, TopicShards shards, Supplier<Map<String, TopicShards>> topics) {
		int count = shards.count();
		if (count == 0) {
			return;
		}
		int end = Math.min(TopicShards.MOST_SHARDS, count + Math.min(MAX_CHECKED, Math.max(MIN_CHECKED, count)));
		List<ShardId> unknown = new ArrayList<>();
		List<AsyncCommand<String, byte[], Long>> lengths = new ArrayList<>();
		for (int id = count; id < end; id++) {
			ShardId shard = ShardId.of(topic, id);
			unknown.add(shard);
			lengths.add(new AsyncCommand<>(new Command<>(CommandType.XLEN, new IntegerOutput<>(RedisStreamSource.CODEC),
					new CommandArgs<>(RedisStreamSource.CODEC).addKey(this.streamKey.apply(shard)))));
		}
		AtomicBoolean refused = new AtomicBoolean();
		List<@Nullable Long> found = this.link.callEach(lengths, (place, failure) -> {
			logger.debug("Not a stream: {}", unknown.get(place), failure);
			this.link.refusedOperations().failed(OPERATION, failure);
			refused.set(true);
		});
		if (!refused.get()) {
			this.link.refusedOperations().succeeded(OPERATION);
		}
		ShardId highest = null;
		for (int i = 0; i < unknown.size(); i++) {
			Long length = found.get(i);
			highest = (length != null && length > 0) ? unknown.get(i) : highest;
		}
		// After a raise meanwhile the records found may be in known shards.
		if (Objects.equals(shards, topics.get().get(topic))) {
			report(topic, count, highest);
		}
	}

	private void report(String topic, int count, @Nullable ShardId highest) {
		if (highest == null) {
			this.problems.remove(topic);
			return;
		}
		String problem = ("The topic '%s' has %d shards, but there are records in shard %s (%s), which nobody reads. "
				+ "If Redis has lost a raise, raise the topic again: ShardTopics.raise(\"%1$s\", %d) or more. "
				+ "Otherwise remove the stream with DEL")
			.formatted(topic, count, highest.id(), this.streamKey.apply(highest), Integer.parseInt(highest.id()) + 1);
		if (!problem.equals(this.problems.put(topic, problem))) {
			logger.warn("{}", problem);
		}
	}

}
