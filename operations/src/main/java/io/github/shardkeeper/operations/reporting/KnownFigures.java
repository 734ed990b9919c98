package io.github.shardkeeper.operations.reporting;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;

/**
 * Figures of the last sample that are still right, because only the owner of a shard
 * could have changed them, and it has not:
 * <ul>
 * <li>A shard without lag gets some with its next record. The reader waits for it, and
 * the owner does not rest from then on. A source that holds records back is read: its
 * readers do not tell of them.</li>
 * <li>A retry queue or dead letters begin with a commit of the owner. What others do with
 * dead letters needs some.</li>
 * </ul>
 * All other figures have to be read. Immutable.
 */
final class KnownFigures {

	/** Nothing is known. */
	static final KnownFigures NONE = new KnownFigures(Map.of());

	private final Map<ShardId, Known> shards;

	private KnownFigures(Map<ShardId, Known> shards) {
		this.shards = shards;
	}

	/**
	 * Returns what a sample has found.
	 * @param activities what the owner had done with each shard before it was read
	 */
	static KnownFigures of(Map<ShardId, ShardFigures> figures, Map<ShardId, ShardActivity> activities) {
		Map<ShardId, Known> shards = new HashMap<>();
		figures.forEach((shard, found) -> {
			ShardActivity activity = activities.get(shard);
			if (activity != null && !found.unreadable()) {
				shards.put(shard, new Known(found, activity));
			}
		});
		return new KnownFigures(shards);
	}

	/** Returns whether a shard still has no lag, or none that can be told. */
	boolean hasNoLag(ShardId shard, @Nullable ShardActivity now) {
		Known known = this.shards.get(shard);
		return known != null && now != null && now.hasRestedSince(known.activity) && isNone(known.figures.lag());
	}

	private static boolean isNone(@Nullable LagReport lag) {
		return lag == null || Long.valueOf(0).equals(lag.records()) && lag.stable() == null;
	}

	/** Returns the lag of a shard for which {@link #hasNoLag} returns true. */
	@Nullable LagReport lag(ShardId shard) {
		Known known = this.shards.get(shard);
		return (known != null) ? known.figures.lag() : null;
	}

	/** Returns whether a shard still has no dead letters. */
	boolean hasNoDeadLetters(ShardId shard, @Nullable ShardActivity now) {
		Known known = this.shards.get(shard);
		return known != null && now != null && now.hasSetNothingAsideSince(known.activity)
				&& Long.valueOf(0).equals(known.figures.deadLetters());
	}

	/**
	 * Returns whether a shard still has nothing in its retry queue. A dead letter could
	 * have been moved there.
	 */
	boolean hasNoRetries(ShardId shard, @Nullable ShardActivity now) {
		Known known = this.shards.get(shard);
		return known != null && Long.valueOf(0).equals(known.figures.retries()) && hasNoDeadLetters(shard, now);
	}

	private record Known(ShardFigures figures, ShardActivity activity) {

	}

}
