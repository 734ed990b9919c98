package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.List;

/**
 * Shares shards out among members of one version, however unlike members and shards are.
 * Confined to its thread.
 * <p>
 * What nobody has goes to whoever carries least, the heaviest shards first (Graham's rule
 * of the longest processing time). Then loads are levelled: by single moves, and where
 * subscriptions do not meet, by chains of them (see {@link Cycles}). With equal weights
 * that ends at the best assignment there is. With different weights chains are of shards
 * of one weight, because to find the best is not feasible (it is the partition problem).
 */
final class Balance {

	private final Draft draft;

	private final Levelling levelling;

	Balance(Draft draft) {
		this.draft = draft;
		this.levelling = new Levelling(draft);
	}

	void share() {
		place();
		List<List<Kind>> byWeight = byWeight();
		boolean mixedWeights = byWeight.size() > 1;
		if (mixedWeights) {
			this.draft.kinds().forEach(this.levelling::approach);
		}
		List<Descent> descents = byWeight.stream().map((kinds) -> new Descent(this.draft, kinds)).toList();
		List<Cycles> cycles = byWeight.stream().map((kinds) -> new Cycles(this.draft, kinds, mixedWeights)).toList();
		boolean moved = true;
		while (moved) {
			moved = false;
			for (int weight = 0; weight < cycles.size(); weight++) {
				moved |= descents.get(weight).level();
				moved |= cycles.get(weight).cancel();
			}
			moved &= mixedWeights;
		}
	}

	/** In their zones first, as long as that is no more than an even share. */
	private void place() {
		double load = 0;
		double capacity = 0;
		for (int member = 0; member < this.draft.members(); member++) {
			load += this.draft.load(member);
			capacity += this.draft.capacity(member);
		}
		for (Kind kind : this.draft.kinds()) {
			load += (double) kind.unowned * kind.weight;
		}
		for (Kind kind : this.draft.kinds()) {
			if (kind.zone != Kind.NOWHERE) {
				this.levelling.place(kind, (member) -> this.draft.isHome(kind, member), load / capacity);
			}
		}
		for (Kind kind : this.draft.kinds()) {
			this.levelling.place(kind, (member) -> true, Double.POSITIVE_INFINITY);
		}
	}

	private List<List<Kind>> byWeight() {
		List<List<Kind>> byWeight = new ArrayList<>();
		for (Kind kind : this.draft.kinds()) {
			if (byWeight.isEmpty() || byWeight.get(byWeight.size() - 1).get(0).weight != kind.weight) {
				byWeight.add(new ArrayList<>());
			}
			byWeight.get(byWeight.size() - 1).add(kind);
		}
		return byWeight;
	}

}
