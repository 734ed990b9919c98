package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * Shares shards out while members of several versions are there: older ones are about to
 * go, and what they hold must move anyway. So, for shards of each kind,
 * <ul>
 * <li>unowned ones go to their newest takers, the least loaded first;</li>
 * <li>their newest takers get their share from older ones: shards move from old to new
 * until no older member carries more than a newer one would with one more;</li>
 * <li>members of the newest version even out among themselves only what would have to
 * move if all older members had gone.</li>
 * </ul>
 * Nothing else moves, so older members are not balanced, and get nothing. The exception:
 * a new member that carries twice an even share takes no unowned shard; they go to the
 * least loaded taker then. Otherwise the first new one would carry all while many old
 * ones go.
 * <p>
 * Load is measured by weight and capacity here too, and pinned shards are where they
 * belong. Zones decide between members that carry the same, but nothing moves for them.
 * Confined to its thread.
 */
final class Rollout {

	private static final int MOST_EVEN_SHARES = 2;

	private final Draft draft;

	private final Levelling levelling;

	private final int[] versions;

	private final int newest;

	/** By kind, all that the same members can take. */
	private final List<List<Kind>> alike = new ArrayList<>();

	Rollout(Draft draft) {
		this.draft = draft;
		this.levelling = new Levelling(draft);
		this.versions = Versions.ranks(draft.request());
		int most = 0;
		for (int version : this.versions) {
			most = Math.max(most, version);
		}
		this.newest = most;
		Map<int[], List<Kind>> byTakers = new IdentityHashMap<>();
		for (Kind kind : draft.kinds()) {
			List<Kind> same = byTakers.computeIfAbsent(kind.takers, (takers) -> new ArrayList<>());
			same.add(kind);
			this.alike.add(same);
		}
	}

	void share() {
		List<Kind> kinds = this.draft.kinds();
		for (int kind = 0; kind < kinds.size(); kind++) {
			place(kinds.get(kind), this.alike.get(kind));
		}
		boolean moved = true;
		while (moved) {
			moved = false;
			for (Kind kind : kinds) {
				IntPredicate isNew = newestOf(kind);
				moved |= this.levelling.level(kind, isNew.negate(), isNew, 0);
			}
			Map<int[], Double> oldLoads = oldLoads();
			for (Kind kind : kinds) {
				moved |= evenOut(kind, oldLoads.getOrDefault(kind.takers, 0.0));
			}
		}
	}

	private IntPredicate newestOf(Kind kind) {
		int newestVersion = 0;
		for (int member : kind.takers) {
			newestVersion = Math.max(newestVersion, this.versions[member]);
		}
		int version = newestVersion;
		return (member) -> this.versions[member] == version;
	}

	private void place(Kind kind, List<Kind> alike) {
		if (kind.unowned == 0) {
			return;
		}
		double load = 0;
		double capacity = 0;
		for (int member : kind.takers) {
			load += this.draft.load(member);
			capacity += this.draft.capacity(member);
		}
		for (Kind other : alike) {
			load += (double) other.unowned * other.weight;
		}
		double most = MOST_EVEN_SHARES * Math.ceil(load / capacity);
		this.levelling.place(kind, newestOf(kind), most);
		this.levelling.place(kind, (member) -> true, Double.POSITIVE_INFINITY);
	}

	/** By takers, how much of what they can take is with older ones of them. */
	private Map<int[], Double> oldLoads() {
		Map<int[], Double> loads = new IdentityHashMap<>();
		for (Kind kind : this.draft.kinds()) {
			IntPredicate isNew = newestOf(kind);
			long old = 0;
			for (int member : kind.takers) {
				old += isNew.test(member) ? 0 : kind.has[member];
			}
			loads.merge(kind.takers, (double) old * kind.weight, Double::sum);
		}
		return loads;
	}

	private boolean evenOut(Kind kind, double oldLoad) {
		IntPredicate isNew = newestOf(kind);
		double withoutOld = oldLoad;
		double capacity = 0;
		for (int member : kind.takers) {
			if (isNew.test(member)) {
				withoutOld += this.draft.load(member);
				capacity += this.draft.capacity(member);
			}
		}
		return this.levelling.level(kind, (member) -> this.versions[member] == this.newest, isNew,
				Math.ceil(withoutOld / capacity));
	}

}
