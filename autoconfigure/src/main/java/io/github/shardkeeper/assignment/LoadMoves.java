package io.github.shardkeeper.assignment;

import java.util.Comparator;
import java.util.Locale;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * Moves shards from busy members to others while that is worth it. Each move brings the
 * higher of two loads down by the gain at least, so it comes to an end, and nothing of it
 * is a reason to move back. Confined to its thread.
 */
final class LoadMoves {

	private final LoadDraft draft;

	private final LoadAwareSettings settings;

	LoadMoves(LoadDraft draft, LoadAwareSettings settings) {
		this.draft = draft;
		this.settings = settings;
	}

	void move() {
		int[][] byOwner = null;
		int most = this.settings.movesPerPlan() - this.draft.request().movesUnderWay();
		for (int moves = 0; moves < most; moves++) {
			int[] byLoad = byLoad();
			if (byLoad.length == 0 || !isBusier(byLoad[0], byLoad[byLoad.length - 1])) {
				return;
			}
			byOwner = (byOwner != null) ? byOwner : this.draft.byOwner();
			Move move = next(byLoad, byOwner);
			if (move == null) {
				return;
			}
			this.draft.give(move.shard, move.to, Reason.LOAD, text(move));
		}
	}

	private int[] byLoad() {
		return IntStream.range(0, this.draft.members())
			.filter(this.draft::isMeasured)
			.boxed()
			.sorted(Comparator.<Integer>comparingDouble(this.draft::busy).reversed().thenComparing((member) -> member))
			.mapToInt(Integer::intValue)
			.toArray();
	}

	private boolean isBusier(int heavy, int light) {
		double difference = this.draft.busy(heavy) - this.draft.busy(light);
		return difference >= this.settings.difference()
				&& difference >= this.settings.differenceShare() * this.draft.busy(heavy);
	}

	/** The best one from the busiest member that can give anything. */
	private @Nullable Move next(int[] byLoad, int[][] byOwner) {
		for (int heavy : byLoad) {
			if (!isBusier(heavy, byLoad[byLoad.length - 1])) {
				return null;
			}
			Move best = null;
			for (int shard : byOwner[heavy]) {
				// The lists are from before the first move.
				if (this.draft.owner(shard) == heavy && mayMove(shard)) {
					Move move = best(shard, heavy, byLoad);
					best = (move != null && (best == null || move.gain > best.gain)) ? move : best;
				}
			}
			if (best != null) {
				return best;
			}
		}
		return null;
	}

	private boolean mayMove(int shard) {
		if (!this.draft.loads().isKnown(shard)
				|| this.draft.loads().of(shard) < this.settings.gain() * this.draft.capacity(this.draft.owner(shard))) {
			return false;
		}
		long age = this.draft.request().nowMillis() - this.draft.request().sinceMillis(shard);
		// Later than now: the store's clock was set back, nobody knows how far.
		return age < 0 || age >= this.settings.coolDown().toMillis();
	}

	/** To the least busy one that may have it. */
	private @Nullable Move best(int shard, int heavy, int[] byLoad) {
		for (int i = byLoad.length - 1; isBusier(heavy, byLoad[i]); i--) {
			int light = byLoad[i];
			if (this.draft.mayMove(shard, light)) {
				double load = this.draft.loads().of(shard);
				double gain = this.draft.busy(heavy)
						- Math.max(this.draft.busyWith(heavy, -load), this.draft.busyWith(light, load));
				return (gain >= this.settings.gain()) ? new Move(shard, light, gain) : null;
			}
		}
		return null;
	}

	private String text(Move move) {
		return String.format(Locale.ROOT,
				"its owner had %.0f %s and this one %.0f; the move of %.0f brings the higher of them down by %.0f",
				this.draft.busy(this.draft.owner(move.shard)), this.settings.measure().unit(), this.draft.busy(move.to),
				this.draft.loads().of(move.shard), move.gain);
	}

	private record Move(int shard, int to, double gain) {

	}

}
