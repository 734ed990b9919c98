package io.github.shardkeeper.redis.stream;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;

/**
 * Reads any number of streams: with one {@link StreamFetcher} on a single Redis, with one
 * per slot on a Cluster. Thread-safe, except {@link #poll()}, which one thread calls.
 */
final class RedisStreamReader implements ShardReader {

	private static final long IDLE_NANOS = FetchConnection.BLOCK.toNanos();

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final Function<ShardId, String> fetcherKey;

	private final Function<ShardId, String> streamKey;

	private final Map<String, StreamFetcher> fetchers = new HashMap<>();

	private final ReadPulse.Settings pulse;

	private final Runnable refreshShardCounts;

	/** One permit per reason to poll again. */
	private final Semaphore signals = new Semaphore(0);

	RedisStreamReader(RedisConnector connector, RedisLink<byte[]> link, Function<ShardId, String> bucketKey,
			Function<ShardId, String> streamKey, ReadPulse.Settings pulse, Runnable refreshShardCounts) {
		this.connector = connector;
		this.link = link;
		this.fetcherKey = connector.isCluster() ? bucketKey : (shard) -> "";
		this.streamKey = streamKey;
		this.pulse = pulse;
		this.refreshShardCounts = refreshShardCounts;
		if (!connector.isCluster()) {
			// Connected by the first poll, so that the first shard does not wait for it.
			this.fetchers.put("", newFetcher());
		}
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		StreamFetcher fetcher = fetcher(shard);
		fetcher.start(shard, this.streamKey.apply(shard), (after != null) ? after.value() : "0-0", sink);
		fetcher.wakeUp();
	}

	@Override
	public void stop(ShardId shard) {
		fetcher(shard).stop(this.streamKey.apply(shard));
	}

	@Override
	public void resume(ShardId shard) {
		StreamFetcher fetcher = fetcher(shard);
		if (fetcher.resume(this.streamKey.apply(shard))) {
			fetcher.wakeUp();
		}
	}

	private StreamFetcher fetcher(ShardId shard) {
		synchronized (this.fetchers) {
			return this.fetchers.computeIfAbsent(this.fetcherKey.apply(shard), (key) -> newFetcher());
		}
	}

	private StreamFetcher newFetcher() {
		return new StreamFetcher(this.connector, this.link, this.pulse, this.signals::release);
	}

	@Override
	public boolean poll() throws InterruptedException {
		List<StreamFetcher> current;
		synchronized (this.fetchers) {
			current = new ArrayList<>(this.fetchers.values());
		}
		boolean answered = false;
		Throwable failure = null;
		for (StreamFetcher fetcher : current) {
			try {
				answered |= fetcher.poll();
			}
			catch (RuntimeException | Error ex) {
				// Poll the other nodes first.
				failure = ex;
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException exception) {
			throw exception;
		}
		this.refreshShardCounts.run();
		this.signals.tryAcquire(current.stream().mapToLong(StreamFetcher::nanosToNext).min().orElse(IDLE_NANOS),
				TimeUnit.NANOSECONDS);
		this.signals.drainPermits();
		return answered;
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>();
		synchronized (this.fetchers) {
			this.fetchers.values().forEach((fetcher) -> problems.putAll(fetcher.problems()));
		}
		return problems;
	}

	@Override
	public void close() {
		synchronized (this.fetchers) {
			this.fetchers.values().forEach(StreamFetcher::close);
		}
	}

}
