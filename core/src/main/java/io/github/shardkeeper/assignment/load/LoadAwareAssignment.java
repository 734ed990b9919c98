package io.github.shardkeeper.assignment.load;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;

/**
 * Assignment by measured load: shards move only if the gain is worth it. Immutable.
 * <ol>
 * <li>Unowned shards, heaviest first, go to the least busy member that consumes them; of
 * about equally busy ones, to that with the fewest shards.</li>
 * <li>A member with less than half of its even share of shards is filled up to that share
 * by busier members, also with shards without load.</li>
 * <li>A shard moves for its load only within {@link LoadAwareSettings}. An unknown load
 * counts like the average of the known ones, by weight; a member with less than half of
 * its loads known neither gives nor takes for load.</li>
 * </ol>
 * While no load is known, and while several versions of the application are there, the
 * result is that of {@link StickyAssignment}. Measured loads that are all zero count as
 * known: otherwise shards would move at every nightfall, and back in the morning. Pins
 * hold; a shard with a zone is not taken out of it for its load.
 */
public final class LoadAwareAssignment implements AssignmentStrategy {

	private final AssignmentStrategy sticky = new StickyAssignment();

	private final LoadAwareSettings settings;

	public LoadAwareAssignment(LoadAwareSettings settings) {
		Objects.requireNonNull(settings, "settings must not be null");
		this.settings = settings;
	}

	@Override
	public boolean usesLoad() {
		return true;
	}

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		if (request.members().size() < 2 || request.hasMixedVersions() || !MemberLoads.areKnown(request)) {
			return this.sticky.assign(request);
		}
		MemberLoads loads = new MemberLoads(request);
		new Placement(loads, this.settings).run();
		new ShareFill(loads).run();
		new Moves(loads, this.settings).run();
		return loads.assignment();
	}

	private static final class Placement {

		private final MemberLoads loads;

		private final LoadAwareSettings settings;

		Placement(MemberLoads loads, LoadAwareSettings settings) {
			this.loads = loads;
			this.settings = settings;
		}

		void run() {
			int[] pins = this.loads.request().pinnedOwners();
			List<Integer> unowned = new ArrayList<>();
			for (int shard = 0; shard < this.loads.shards(); shard++) {
				int pin = pins[shard];
				if (pin != AssignmentRequest.NOBODY) {
					if (this.loads.owner(shard) != pin) {
						this.loads.give(shard, pin, Reason.PINNED, null);
					}
				}
				else if (this.loads.owner(shard) == AssignmentRequest.NOBODY) {
					unowned.add(shard);
				}
			}
			unowned
				.sort(Comparator.<Integer>comparingDouble(this.loads::load).reversed().thenComparing((shard) -> shard));
			unowned.forEach(this::place);
		}

		private void place(int shard) {
			String zone = this.loads.request().traits(shard).zone();
			int taker = (zone != null) ? taker(shard, (member) -> zone.equals(this.loads.zone(member)))
					: AssignmentRequest.NOBODY;
			if (taker != AssignmentRequest.NOBODY) {
				this.loads.give(shard, taker, Reason.PLACED,
						"it had no remaining owner, and this member had the most room in the zone of its data");
				return;
			}
			taker = taker(shard, (member) -> true);
			if (taker != AssignmentRequest.NOBODY) {
				this.loads.give(shard, taker, Reason.PLACED, null);
			}
		}

		private int taker(int shard, IntPredicate allowed) {
			int topic = this.loads.topic(shard);
			int leastBusy = AssignmentRequest.NOBODY;
			for (int member = 0; member < this.loads.members(); member++) {
				if (this.loads.consumes(member, topic) && allowed.test(member) && (leastBusy == AssignmentRequest.NOBODY
						|| this.loads.busy(member) < this.loads.busy(leastBusy))) {
					leastBusy = member;
				}
			}
			if (leastBusy == AssignmentRequest.NOBODY || this.loads.load(shard) >= this.settings.gain()) {
				return leastBusy;
			}
			// Otherwise many shards with almost no load would all go to the same member.
			double aboutAsBusy = this.loads.busy(leastBusy) + this.settings.difference() / 2;
			int emptiest = leastBusy;
			for (int member = 0; member < this.loads.members(); member++) {
				if (this.loads.consumes(member, topic) && allowed.test(member) && this.loads.busy(member) <= aboutAsBusy
						&& this.loads.fullness(member) < this.loads.fullness(emptiest)) {
					emptiest = member;
				}
			}
			return emptiest;
		}

	}

	/**
	 * Fills members that have far fewer shards than their share: a new member is useful
	 * even if no single shard is worth a move. It becomes at most as busy as the giver,
	 * so nothing is a reason to move back.
	 */
	private static final class ShareFill {

		private final MemberLoads loads;

		private final double[] shares;

		/** All members. A member is removed before its load changes. */
		private final NavigableSet<Integer> busiestFirst;

		ShareFill(MemberLoads loads) {
			this.loads = loads;
			this.shares = shares(loads);
			this.busiestFirst = new TreeSet<>(Comparator.<Integer>comparingDouble(loads::busy)
				.thenComparingDouble(loads::fullness)
				.reversed()
				.thenComparing(Comparator.naturalOrder()));
		}

		private static double[] shares(MemberLoads loads) {
			double[] shares = new double[loads.members()];
			List<String> topics = loads.request().shards().topics();
			for (int topic = 0; topic < topics.size(); topic++) {
				double capacity = 0;
				for (int member = 0; member < shares.length; member++) {
					capacity += loads.consumes(member, topic) ? loads.capacity(member) : 0;
				}
				int size = loads.request().shards().end(topic) - loads.request().shards().begin(topic);
				for (int member = 0; member < shares.length; member++) {
					shares[member] += loads.consumes(member, topic) ? size * loads.capacity(member) / capacity : 0;
				}
			}
			return shares;
		}

		void run() {
			int[][] byOwner = null;
			for (int member = 0; member < this.loads.members(); member++) {
				if (2 * this.loads.count(member) < Math.floor(this.shares[member])
						|| this.loads.count(member) == 0 && this.shares[member] >= 1) {
					if (byOwner == null) {
						byOwner = this.loads.byOwner();
						IntStream.range(0, this.loads.members()).forEach(this.busiestFirst::add);
					}
					fill(member, byOwner);
				}
			}
		}

		/** The lists may contain shards that have moved in the meantime. */
		private void fill(int taker, int[][] byOwner) {
			int wanted = (int) Math.floor(this.shares[taker]);
			boolean given = true;
			while (given && this.loads.count(taker) < wanted) {
				given = takeOne(taker, byOwner);
			}
		}

		private boolean takeOne(int taker, int[][] byOwner) {
			for (int giver : this.busiestFirst) {
				if (this.loads.busy(giver) < this.loads.busy(taker)) {
					return false;
				}
				boolean hasEnough = giver != taker && this.loads.count(giver) > this.shares[giver];
				int shard = hasEnough ? shardFor(taker, giver, byOwner[giver]) : -1;
				if (shard >= 0) {
					this.busiestFirst.remove(giver);
					this.busiestFirst.remove(taker);
					this.loads.give(shard, taker, Reason.SHARE, null);
					this.busiestFirst.add(giver);
					this.busiestFirst.add(taker);
					return true;
				}
			}
			return false;
		}

		/** Returns the heaviest shard that keeps the taker less busy, then the latest. */
		private int shardFor(int taker, int giver, int[] shards) {
			int best = -1;
			for (int shard : shards) {
				double load = this.loads.load(shard);
				if (this.loads.owner(shard) == giver && this.loads.mayMove(shard, taker)
						&& this.loads.busyWith(taker, load) <= this.loads.busyWith(giver, -load)
						&& (best < 0 || isBetter(shard, best))) {
					best = shard;
				}
			}
			return best;
		}

		private boolean isBetter(int shard, int other) {
			int byLoad = Double.compare(this.loads.load(shard), this.loads.load(other));
			return byLoad > 0 || byLoad == 0 && this.loads.request().since(shard) > this.loads.request().since(other);
		}

	}

	/**
	 * Moves from busy members to others. Each lowers the higher of two loads by at least
	 * the gain, so they come to an end, and none is a reason to move back.
	 */
	private static final class Moves {

		private final MemberLoads loads;

		private final LoadAwareSettings settings;

		Moves(MemberLoads loads, LoadAwareSettings settings) {
			this.loads = loads;
			this.settings = settings;
		}

		void run() {
			int[][] byOwner = null;
			int most = this.settings.movesPerPlan() - this.loads.request().movesUnderWay();
			for (int moves = 0; moves < most; moves++) {
				int[] byLoad = byLoad();
				if (byLoad.length == 0 || !isBusier(byLoad[0], byLoad[byLoad.length - 1])) {
					return;
				}
				byOwner = (byOwner != null) ? byOwner : this.loads.byOwner();
				Move move = next(byLoad, byOwner);
				if (move == null) {
					return;
				}
				this.loads.give(move.shard, move.to, Reason.LOAD, text(move));
			}
		}

		private int[] byLoad() {
			return IntStream.range(0, this.loads.members())
				.filter(this.loads::isMeasured)
				.boxed()
				.sorted(Comparator.<Integer>comparingDouble(this.loads::busy)
					.reversed()
					.thenComparing((member) -> member))
				.mapToInt(Integer::intValue)
				.toArray();
		}

		private boolean isBusier(int heavy, int light) {
			double difference = this.loads.busy(heavy) - this.loads.busy(light);
			return difference >= this.settings.difference()
					&& difference >= this.settings.differenceShare() * this.loads.busy(heavy);
		}

		private @Nullable Move next(int[] byLoad, int[][] byOwner) {
			for (int heavy : byLoad) {
				if (!isBusier(heavy, byLoad[byLoad.length - 1])) {
					return null;
				}
				Move best = null;
				for (int shard : byOwner[heavy]) {
					// The lists date from before the first move.
					if (this.loads.owner(shard) == heavy && mayMove(shard)) {
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
			if (!this.loads.isKnown(shard)
					|| this.loads.load(shard) < this.settings.gain() * this.loads.capacity(this.loads.owner(shard))) {
				return false;
			}
			long age = this.loads.request().nowMillis() - this.loads.request().sinceMillis(shard);
			// Negative: the store's clock was set back, by an unknown amount.
			return age < 0 || age >= this.settings.coolDown().toMillis();
		}

		private @Nullable Move best(int shard, int heavy, int[] byLoad) {
			for (int i = byLoad.length - 1; isBusier(heavy, byLoad[i]); i--) {
				int light = byLoad[i];
				if (this.loads.mayMove(shard, light)) {
					double load = this.loads.load(shard);
					double gain = this.loads.busy(heavy)
							- Math.max(this.loads.busyWith(heavy, -load), this.loads.busyWith(light, load));
					return (gain >= this.settings.gain()) ? new Move(shard, light, gain) : null;
				}
			}
			return null;
		}

		private String text(Move move) {
			return String.format(Locale.ROOT,
					"its owner had %.0f %s and this member %.0f; moving %.0f lowers the higher of the two by %.0f",
					this.loads.busy(this.loads.owner(move.shard)), this.settings.measure().unit(),
					this.loads.busy(move.to), this.loads.load(move.shard), move.gain);
		}

		private record Move(int shard, int to, double gain) {

		}

	}

}
