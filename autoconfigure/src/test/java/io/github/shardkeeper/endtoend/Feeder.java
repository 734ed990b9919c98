package io.github.shardkeeper.endtoend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import org.awaitility.Awaitility;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.testsupport.Appends;

/**
 * Appends 1, 2, 3 … to every shard, one record per shard and interval, each number once
 * also when Redis is away in between: unanswered sends are looked up before the next.
 */
final class Feeder implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final int KEYS = 7;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private final String topic;

	private final RedisStreamSource source;

	private final RedisLink<String> ends;

	private final AtomicLongArray sent;

	private final int slices;

	/** Numbers are padded with zeros to it. */
	private final int digits;

	private int slice;

	/** Whether an append was not answered: some of it may have been carried out. */
	private volatile boolean unsure;

	/**
	 * Begins to feed.
	 * @param interval the time between two records of a shard
	 * @param slices how many parts of the shards are fed one after the other
	 */
	Feeder(RedisConnector connector, int shards, Duration interval, int slices) {
		this(connector, shards, interval, slices, TIMEOUT);
	}

	Feeder(RedisConnector connector, int shards, Duration interval, int slices, Duration timeout) {
		this(connector, TracingInstance.TOPIC, shards, interval, slices, timeout);
	}

	Feeder(RedisConnector connector, String topic, int shards, Duration interval, int slices, Duration timeout) {
		this(connector, topic, shards, interval, slices, timeout, 1);
	}

	/**
	 * Begins to feed with records of a size.
	 * @param digits how many digits a number has at least
	 */
	Feeder(RedisConnector connector, String topic, int shards, Duration interval, int slices, Duration timeout,
			int digits) {
		this.topic = topic;
		this.slices = slices;
		this.digits = digits;
		this.sent = new AtomicLongArray(shards);
		this.source = new RedisStreamSource(connector, "shardkeeper", Map.of(topic, shards), timeout);
		this.ends = new RedisLink<>(connector, StringCodec.UTF8, timeout);
		this.timer.scheduleAtFixedRate(this::feed, 0, interval.dividedBy(slices).toMillis(), TimeUnit.MILLISECONDS);
	}

	private void feed() {
		try {
			lookUpUncertainSends();
			int[] behind = behind();
			List<NewRecord> records = new ArrayList<>();
			for (int shard : behind) {
				long number = this.sent.get(shard) + 1;
				records.add(new NewRecord(ShardId.of(this.topic, shard), "key-" + number % KEYS,
						("%0" + this.digits + "d").formatted(number).getBytes(StandardCharsets.UTF_8)));
			}
			this.unsure = true;
			Appends.append(this.source, records);
			for (int shard : behind) {
				this.sent.incrementAndGet(shard);
			}
			this.slice = (this.slice + 1) % this.slices;
			this.unsure = false;
		}
		catch (StoreUnavailableException ex) {
			// The next round looks how far this one came.
		}
	}

	/**
	 * Shards of the slice with the fewest records: all of them, unless Redis was
	 * unavailable.
	 */
	private int[] behind() {
		int[] shards = IntStream.range(0, this.sent.length())
			.filter((shard) -> shard % this.slices == this.slice)
			.toArray();
		long fewest = IntStream.of(shards).mapToLong(this.sent::get).min().orElseThrow();
		return IntStream.of(shards).filter((shard) -> this.sent.get(shard) == fewest).toArray();
	}

	private void lookUpUncertainSends() {
		if (!this.unsure) {
			return;
		}
		List<Function<RedisClusterAsyncCommands<String, String>, RedisFuture<List<StreamMessage<String, String>>>>> lookUps = new ArrayList<>();
		for (int shard = 0; shard < this.sent.length(); shard++) {
			String stream = "shardkeeper:{%s#%d}:stream:%d".formatted(this.topic, shard % 16, shard);
			lookUps.add((commands) -> commands.xrevrange(stream, Range.unbounded(), Limit.from(1)));
		}
		List<List<StreamMessage<String, String>>> last = this.ends.callAll(lookUps);
		for (int shard = 0; shard < this.sent.length(); shard++) {
			long there = last.get(shard).isEmpty() ? 0 : Long.parseLong(last.get(shard).get(0).getBody().get("v"));
			long known = this.sent.get(shard);
			// A Redis that was emptied may have had one more, and an instance may have
			// handled it: that number is not given again.
			this.sent.set(shard, (there >= known) ? there : known + 1);
		}
		this.unsure = false;
	}

	/** Returns the minimum number of records of all shards. */
	long sent() {
		return IntStream.range(0, this.sent.length()).mapToLong(this.sent::get).min().orElseThrow();
	}

	/** Returns the number of records of a shard. */
	long sent(int shard) {
		return this.sent.get(shard);
	}

	/** Stops feeding and returns the minimum number of records of each shard. */
	long stop() {
		this.timer.shutdown();
		try {
			this.timer.awaitTermination(2 * TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
			.untilAsserted(this::lookUpUncertainSends);
		return sent();
	}

	/** Stops feeding and returns the number of records of each shard. */
	Map<String, Long> stopAll() {
		stop();
		Map<String, Long> fed = new TreeMap<>();
		for (int shard = 0; shard < this.sent.length(); shard++) {
			fed.put(Integer.toString(shard), sent(shard));
		}
		return fed;
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
		this.source.close();
		this.ends.close();
	}

}
