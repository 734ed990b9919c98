package io.github.shardkeeper.assignment;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Fills up members that have far less shards than their share: who joins is of use also
 * where no single shard is worth a move. They get what makes them as busy as the giver at
 * most, so nothing of it is a reason to move back. Confined to its thread.
 */
final class LoadShares {

	private final LoadDraft draft;

	private final double[] shares;

	LoadShares(LoadDraft draft) {
		this.draft = draft;
		this.shares = shares(draft);
	}

	/** By member the number of shards that would be even, by capacity. */
	private static double[] shares(LoadDraft draft) {
		double[] shares = new double[draft.members()];
		List<String> topics = draft.request().shards().topics();
		for (int topic = 0; topic < topics.size(); topic++) {
			double capacity = 0;
			for (int member = 0; member < shares.length; member++) {
				capacity += draft.consumes(member, topic) ? draft.capacity(member) : 0;
			}
			int size = draft.request().shards().end(topic) - draft.request().shards().begin(topic);
			for (int member = 0; member < shares.length; member++) {
				shares[member] += draft.consumes(member, topic) ? size * draft.capacity(member) / capacity : 0;
			}
		}
		return shares;
	}

	void fill() {
		int[][] byOwner = null;
		for (int member = 0; member < this.draft.members(); member++) {
			if (2 * this.draft.count(member) < Math.floor(this.shares[member])
					|| this.draft.count(member) == 0 && this.shares[member] >= 1) {
				byOwner = (byOwner != null) ? byOwner : this.draft.byOwner();
				fill(member, byOwner);
			}
		}
	}

	/** Lists of shards may name some that were given away meanwhile. */
	private void fill(int taker, int[][] byOwner) {
		int wanted = (int) Math.floor(this.shares[taker]);
		boolean given = true;
		while (given && this.draft.count(taker) < wanted) {
			given = false;
			for (int giver : givers(taker)) {
				int shard = shardFor(taker, giver, byOwner[giver]);
				if (shard >= 0) {
					this.draft.give(shard, taker, Reason.SHARE, null);
					given = true;
					break;
				}
			}
		}
	}

	/** The busiest first; not those that would have less than their share. */
	private int[] givers(int taker) {
		return IntStream.range(0, this.draft.members())
			.filter((member) -> member != taker && this.draft.count(member) > this.shares[member]
					&& this.draft.busy(member) >= this.draft.busy(taker))
			.boxed()
			.sorted(Comparator.<Integer>comparingDouble(this.draft::busy)
				.thenComparingDouble(this.draft::fullness)
				.reversed()
				.thenComparing((member) -> member))
			.mapToInt(Integer::intValue)
			.toArray();
	}

	/** The heaviest that does not make the taker the busier one; then what came last. */
	private int shardFor(int taker, int giver, int[] shards) {
		int best = -1;
		for (int shard : shards) {
			double load = this.draft.loads().of(shard);
			if (this.draft.owner(shard) == giver && this.draft.mayMove(shard, taker)
					&& this.draft.busyWith(taker, load) <= this.draft.busyWith(giver, -load)
					&& (best < 0 || isBetter(shard, best))) {
				best = shard;
			}
		}
		return best;
	}

	private boolean isBetter(int shard, int other) {
		int byLoad = Double.compare(this.draft.loads().of(shard), this.draft.loads().of(other));
		return byLoad > 0 || byLoad == 0 && this.draft.request().since(shard) > this.draft.request().since(other);
	}

}
