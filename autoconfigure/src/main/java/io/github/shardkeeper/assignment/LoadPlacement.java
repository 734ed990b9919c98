package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Puts what is pinned where it belongs, and gives away what has no owner that stays.
 * Confined to its thread.
 */
final class LoadPlacement {

	private final LoadDraft draft;

	private final LoadAwareSettings settings;

	LoadPlacement(LoadDraft draft, LoadAwareSettings settings) {
		this.draft = draft;
		this.settings = settings;
	}

	void place() {
		int[] pins = Pins.owners(this.draft.request());
		List<Integer> unowned = new ArrayList<>();
		for (int shard = 0; shard < this.draft.shards(); shard++) {
			int pin = pins[shard];
			if (pin != AssignmentRequest.NOBODY) {
				if (this.draft.owner(shard) != pin) {
					this.draft.give(shard, pin, Reason.PINNED, null);
				}
			}
			else if (this.draft.owner(shard) == AssignmentRequest.NOBODY) {
				unowned.add(shard);
			}
		}
		unowned.sort(
				Comparator.<Integer>comparingDouble(this.draft.loads()::of).reversed().thenComparing((shard) -> shard));
		unowned.forEach(this::place);
	}

	private void place(int shard) {
		String zone = this.draft.request().traits(shard).zone();
		int taker = (zone != null) ? taker(shard, (member) -> zone.equals(this.draft.zone(member)))
				: AssignmentRequest.NOBODY;
		if (taker != AssignmentRequest.NOBODY) {
			this.draft.give(shard, taker, Reason.PLACED,
					"it had no owner that stays, and of those in the zone " + "of its data this one had most room");
			return;
		}
		taker = taker(shard, (member) -> true);
		if (taker != AssignmentRequest.NOBODY) {
			this.draft.give(shard, taker, Reason.PLACED, null);
		}
	}

	private int taker(int shard, IntPredicate allowed) {
		int topic = this.draft.topic(shard);
		int leastBusy = AssignmentRequest.NOBODY;
		for (int member = 0; member < this.draft.members(); member++) {
			if (this.draft.consumes(member, topic) && allowed.test(member) && (leastBusy == AssignmentRequest.NOBODY
					|| this.draft.busy(member) < this.draft.busy(leastBusy))) {
				leastBusy = member;
			}
		}
		if (leastBusy == AssignmentRequest.NOBODY || this.draft.loads().of(shard) >= this.settings.gain()) {
			return leastBusy;
		}
		// Many that do next to nothing would all go to the same one.
		double aboutAsBusy = this.draft.busy(leastBusy) + this.settings.difference() / 2;
		int emptiest = leastBusy;
		for (int member = 0; member < this.draft.members(); member++) {
			if (this.draft.consumes(member, topic) && allowed.test(member) && this.draft.busy(member) <= aboutAsBusy
					&& this.draft.fullness(member) < this.draft.fullness(emptiest)) {
				emptiest = member;
			}
		}
		return emptiest;
	}

}
