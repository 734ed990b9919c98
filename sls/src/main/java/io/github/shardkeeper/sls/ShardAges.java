package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource.Lag;

/**
 * How old the logs are that wait after a checkpoint; how many these are is unknown. What
 * the replies to reads tell about shards that are read here needs no request. The time is
 * that at which SLS received a log, in whole seconds, and compared with this machine's
 * clock; of a checkpoint inside of a reply, that of the first log of the reply.
 * Thread-safe.
 */
final class ShardAges {

	/** Not 0 records: of the topic's other shards, the number is unknown. */
	private static final Lag AT_END = new Lag(null, Duration.ZERO);

	private final SlsClient client;

	private final LongSupplier currentTimeMillis;

	private final Map<ShardId, ShardFetch.Reached> reached = new ConcurrentHashMap<>();

	ShardAges(SlsClient client, LongSupplier currentTimeMillis) {
		this.client = client;
		this.currentTimeMillis = currentTimeMillis;
	}

	/** Notes how far a shard is read, {@code null} if that is not known any more. */
	void reached(ShardId shard, ShardFetch.@Nullable Reached place) {
		if (place != null) {
			this.reached.put(shard, place);
		}
		else {
			this.reached.remove(shard);
		}
	}

	/** Returns the lag of an offset, {@code null} if it cannot be told. */
	@Nullable Lag lag(ShardId shard, Offset committed) {
		SlsOffset.Place resumed = SlsOffset.parse(committed).resumeAt();
		try {
			String cursor = (resumed != null) ? resumed.cursor() : this.client.begin(shard);
			ShardFetch.Reached read = this.reached.get(shard);
			if (read != null && read.cursor().equals(cursor)) {
				return read.atEnd() ? AT_END : since(read.epochSecond());
			}
			// What is read and not committed is after it.
			return (read == null && this.client.end(shard).equals(cursor)) ? AT_END
					: since(this.client.cursorTime(shard, cursor));
		}
		catch (SlsFailure ex) {
			if (ex.kind() == SlsFailure.Kind.NO_SHARD) {
				return null;
			}
			throw ex;
		}
	}

	private @Nullable Lag since(long epochSecond) {
		return (epochSecond > 0)
				? new Lag(null, Duration.ofMillis(Math.max(0, this.currentTimeMillis.getAsLong() - epochSecond * 1000)))
				: null;
	}

}
