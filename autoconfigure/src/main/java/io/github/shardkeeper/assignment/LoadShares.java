package io.github.shardkeeper.assignment;

import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Fills up members that have far less shards than their share: who joins is of use also
 * where no single shard is worth a move. They get what makes them as busy as the giver at
 * most, so nothing of it is a reason to move back. Confined to its thread.
 */
final class LoadShares {

	private final LoadDraft draft;

	private final double[] shares;

	/** All members; whose load changes must be taken out before. */
	private final NavigableSet<Integer> busiestFirst;

	LoadShares(LoadDraft draft) {
		this.draft = draft;
		this.shares = shares(draft);
		this.busiestFirst = new TreeSet<>(Comparator.<Integer>comparingDouble(draft::busy)
			.thenComparingDouble(draft::fullness)
			.reversed()
			.thenComparing(Comparator.naturalOrder()));
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
				if (byOwner == null) {
					byOwner = this.draft.byOwner();
					IntStream.range(0, this.draft.members()).forEach(this.busiestFirst::add);
				}
				fill(member, byOwner);
			}
		}
	}

	/** Lists of shards may name some that were given away meanwhile. */
	private void fill(int taker, int[][] byOwner) {
		int wanted = (int) Math.floor(this.shares[taker]);
		boolean given = true;
		while (given && this.draft.count(taker) < wanted) {
			given = takeOne(taker, byOwner);
		}
	}

	/** From the busiest first; not from those that would have less than their share. */
	private boolean takeOne(int taker, int[][] byOwner) {
		for (int giver : this.busiestFirst) {
			if (this.draft.busy(giver) < this.draft.busy(taker)) {
				return false;
			}
			boolean hasEnough = giver != taker && this.draft.count(giver) > this.shares[giver];
			int shard = hasEnough ? shardFor(taker, giver, byOwner[giver]) : -1;
			if (shard >= 0) {
				this.busiestFirst.remove(giver);
				this.busiestFirst.remove(taker);
				this.draft.give(shard, taker, Reason.SHARE, null);
				this.busiestFirst.add(giver);
				this.busiestFirst.add(taker);
				return true;
			}
		}
		return false;
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
