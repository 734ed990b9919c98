package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Moves that belong together: each member in it but the first takes one shard, and each
 * but the last gives one away. In a circle the last one is the first one. Confined to its
 * thread.
 */
final class Chain {

	private final Cycles cycles;

	private final List<Step> steps;

	private Chain(Cycles cycles, List<Step> steps) {
		this.cycles = cycles;
		this.steps = steps;
	}

	/** The chain that ends with a shard of a kind being taken. */
	static Chain open(Cycles cycles, int lastKind, int lastTaker) {
		List<Step> steps = new ArrayList<>();
		int taker = lastTaker;
		for (int kind = lastKind; kind >= 0; kind = cycles.before(kind)) {
			steps.add(new Step(kind, cycles.giver(kind), taker));
			taker = cycles.giver(kind);
		}
		Collections.reverse(steps);
		return new Chain(cycles, steps).simple();
	}

	/** The circle that a kind is part of. */
	static Chain closed(Cycles cycles, int inCircle) {
		List<Step> steps = new ArrayList<>();
		int kind = inCircle;
		do {
			int before = cycles.before(kind);
			steps.add(new Step(before, cycles.giver(before), cycles.giver(kind)));
			kind = before;
		}
		while (kind != inCircle);
		Collections.reverse(steps);
		return new Chain(cycles, steps).simple();
	}

	/**
	 * Nobody is in it twice: what lies between is a circle of its own, and either that
	 * pays or the rest does.
	 */
	private Chain simple() {
		List<Step> simple = new ArrayList<>();
		Map<Integer, Integer> places = new HashMap<>(Map.of(this.steps.get(0).giver, 0));
		for (Step step : this.steps) {
			simple.add(step);
			Integer place = places.get(step.taker);
			if (place != null && !(place == 0 && simple.size() == this.steps.size())) {
				List<Step> circle = simple.subList(place, simple.size());
				if (cost(circle) < 0) {
					return new Chain(this.cycles, List.copyOf(circle));
				}
				circle.clear();
				places.values().removeIf((other) -> other > place);
			}
			places.put(step.taker, simple.size());
		}
		return new Chain(this.cycles, simple);
	}

	private long cost(List<Step> some) {
		long cost = 0;
		for (Step step : some) {
			cost += this.cycles.giveCost(step.kind, step.giver) + this.cycles.takeCost(step.kind, step.taker);
		}
		return cost;
	}

	/** At least once; and again as long as that is the same improvement. */
	void moveWhileItPays() {
		do {
			for (Step step : this.steps) {
				this.cycles.draft().move(this.cycles.kind(step.kind), step.giver, step.taker);
			}
		}
		while (pays());
	}

	private boolean pays() {
		for (Step step : this.steps) {
			if (this.cycles.kind(step.kind).has[step.giver] == 0) {
				return false;
			}
		}
		int first = this.steps.get(0).giver;
		int last = this.steps.get(this.steps.size() - 1).taker;
		int ends = (first != last) ? this.cycles.compareEnds(first, last) : 0;
		return ends < 0 || ends == 0 && cost(this.steps) < 0;
	}

	private record Step(int kind, int giver, int taker) {

	}

}
