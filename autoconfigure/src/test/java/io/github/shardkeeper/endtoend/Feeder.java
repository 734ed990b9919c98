package io.github.shardkeeper.endtoend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.redis.RedisStreamSource;

/**
 * Appends 1, 2, 3 … to every shard, one record per shard and interval; the same number
 * again when Redis has not taken it.
 */
final class Feeder implements AutoCloseable {

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private final AtomicLong sent = new AtomicLong();

	private final RedisStreamSource source;

	private final int shards;

	Feeder(RedisConnector connector, int shards, Duration interval) {
		this(connector, shards, interval, Duration.ofSeconds(10));
	}

	Feeder(RedisConnector connector, int shards, Duration interval, Duration timeout) {
		this.shards = shards;
		this.source = new RedisStreamSource(connector, "shardkeeper", Map.of(TracingInstance.TOPIC, shards), timeout);
		this.timer.scheduleAtFixedRate(this::feed, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
	}

	private void feed() {
		long number = this.sent.get() + 1;
		List<NewRecord> records = new ArrayList<>();
		for (int shard = 0; shard < this.shards; shard++) {
			records.add(new NewRecord(ShardId.of(TracingInstance.TOPIC, shard), "key",
					Long.toString(number).getBytes(StandardCharsets.UTF_8)));
		}
		try {
			this.source.append(records);
			this.sent.set(number);
		}
		catch (StoreUnavailableException ex) {
			// The same number next time; some shards may get it twice.
		}
	}

	/** How many records each shard has. */
	long sent() {
		return this.sent.get();
	}

	/** Stops feeding; tells how many records each shard has. */
	long stop() {
		this.timer.shutdown();
		try {
			this.timer.awaitTermination(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return sent();
	}

	@Override
	public void close() {
		stop();
		this.source.close();
	}

}
