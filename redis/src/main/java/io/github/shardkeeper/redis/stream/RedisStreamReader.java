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
 * Reads any number of streams with one blocking {@code XREAD} at a time per lane: one
 * lane on a single Redis, one per slot on a Cluster. Thread-safe but for {@link #poll()}.
 */
final class RedisStreamReader implements ShardReader {

	private final RedisConnector connector;

	private final RedisLink<byte[]> link;

	private final Function<ShardId, String> laneKey;

	private final Function<ShardId, String> streamKey;

	private final Map<String, StreamLane> lanes = new HashMap<>();

	/** Looks whether topics have got more shards, if it is time for that. */
	private final Runnable lookForShards;

	/** A permit for every reason to look at the lanes again. */
	private final Semaphore signals = new Semaphore(0);

	RedisStreamReader(RedisConnector connector, RedisLink<byte[]> link, Function<ShardId, String> bucketKey,
			Function<ShardId, String> streamKey, Runnable lookForShards) {
		this.connector = connector;
		this.link = link;
		this.laneKey = connector.isCluster() ? bucketKey : (shard) -> "";
		this.streamKey = streamKey;
		this.lookForShards = lookForShards;
		if (!connector.isCluster()) {
			// Connected by the first poll: the first shard shall not wait for that.
			this.lanes.put("", newLane());
		}
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		StreamLane lane = lane(shard);
		lane.start(shard, this.streamKey.apply(shard), (after != null) ? after.value() : "0-0", sink);
		lane.wakeUp();
	}

	@Override
	public void stop(ShardId shard) {
		lane(shard).stop(this.streamKey.apply(shard));
	}

	@Override
	public void resume(ShardId shard) {
		StreamLane lane = lane(shard);
		if (lane.resume(this.streamKey.apply(shard))) {
			lane.wakeUp();
		}
	}

	private StreamLane lane(ShardId shard) {
		synchronized (this.lanes) {
			return this.lanes.computeIfAbsent(this.laneKey.apply(shard), (key) -> newLane());
		}
	}

	private StreamLane newLane() {
		return new StreamLane(this.connector, this.link, this.signals::release);
	}

	@Override
	public boolean poll() throws InterruptedException {
		List<StreamLane> current;
		synchronized (this.lanes) {
			current = new ArrayList<>(this.lanes.values());
		}
		boolean answered = false;
		Throwable failure = null;
		for (StreamLane lane : current) {
			try {
				answered |= lane.deliverAndReadOn();
			}
			catch (RuntimeException | Error ex) {
				// One node's failure must not keep the lanes of others waiting.
				failure = ex;
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException exception) {
			throw exception;
		}
		this.lookForShards.run();
		this.signals.tryAcquire(LaneConnection.BLOCK.toMillis(), TimeUnit.MILLISECONDS);
		this.signals.drainPermits();
		return answered;
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>();
		synchronized (this.lanes) {
			this.lanes.values().forEach((lane) -> problems.putAll(lane.problems()));
		}
		return problems;
	}

	@Override
	public void close() {
		synchronized (this.lanes) {
			this.lanes.values().forEach(StreamLane::close);
		}
	}

}
