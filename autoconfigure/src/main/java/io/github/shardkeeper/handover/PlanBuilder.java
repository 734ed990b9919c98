package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.Transition.Assign;
import io.github.shardkeeper.handover.Transition.Cancel;
import io.github.shardkeeper.handover.Transition.Retarget;
import io.github.shardkeeper.handover.Transition.Revoke;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Finds for each shard the transition towards the member that is to have it, if one can
 * be made now. Confined to the call that plans.
 */
final class PlanBuilder {

	/** What is known of the store's time may be that much behind, and no more. */
	private static final long CLOCK_DISAGREEMENT_MILLIS = 1000;

	private final HandoverRules rules;

	private final long nowMillis;

	private final long claimsUntilMillis;

	/**
	 * By owner: what stands together is written together, and whoever gets a hundred
	 * shards at once is told of them two or three times, not a hundred times.
	 */
	private final Map<MemberId, List<Transition>> assigned = new LinkedHashMap<>();

	private final List<Transition> transitions = new ArrayList<>();

	/** Those of members that wait to go come first. */
	private final List<Transition> urgentMoves = new ArrayList<>();

	private final List<Transition> moves = new ArrayList<>();

	/**
	 * Shards that are being released already, and stay so. Not those for which that takes
	 * longer than it may: it is told, and a few that hang must not hold up all others.
	 */
	private int movesUnderWay;

	/** When the first of these takes too long, too; 0 for none. */
	private long firstOverdueMillis;

	private long nextMillis;

	PlanBuilder(HandoverRules rules, long nowMillis, long claimsUntilMillis) {
		this.rules = rules;
		this.nowMillis = nowMillis;
		this.claimsUntilMillis = claimsUntilMillis;
	}

	/**
	 * Takes in one shard.
	 * @param now what is known about it, {@code null} for a new one
	 * @param wanted who is to have it
	 * @param staying the members that do not leave: the shards of others move first
	 */
	void add(ShardId shard, @Nullable Ownership now, @Nullable MemberId wanted, Set<MemberId> staying) {
		if (now == null) {
			assign(shard, 0, wanted, 0);
			return;
		}
		switch (now.phase()) {
			case FREE -> assign(shard, now.generation(), wanted, 0);
			case OWNED -> {
				MemberId owner = now.owner();
				if (!Objects.equals(owner, wanted)) {
					boolean urgent = owner != null && !staying.contains(owner);
					(urgent ? this.urgentMoves : this.moves).add(new Revoke(shard, now.generation(), wanted));
				}
			}
			case REVOKING -> released(now, wanted);
			case QUIET -> quiet(now, wanted);
			case COMPLETED -> {
			}
		}
	}

	private void assign(ShardId shard, long generation, @Nullable MemberId wanted, long restEndsMillis) {
		if (wanted == null) {
			return;
		}
		long possibleMillis = Math.max(restEndsMillis, this.claimsUntilMillis);
		if (this.nowMillis >= possibleMillis) {
			this.assigned.computeIfAbsent(wanted, (owner) -> new ArrayList<>())
				.add(new Assign(shard, generation, wanted));
		}
		else {
			this.nextMillis = earlier(this.nextMillis, possibleMillis);
		}
	}

	private void released(Ownership now, @Nullable MemberId wanted) {
		if (wanted != null && wanted.equals(now.owner())) {
			this.transitions.add(new Cancel(now.shard(), now.generation()));
			return;
		}
		long overdueMillis = now.sinceMillis() + this.rules.timeout().toMillis();
		if (this.nowMillis < overdueMillis) {
			this.movesUnderWay++;
			this.firstOverdueMillis = earlier(this.firstOverdueMillis, overdueMillis);
		}
		if (!Objects.equals(now.target(), wanted)) {
			this.transitions.add(new Retarget(now.shard(), now.generation(), wanted));
		}
	}

	private void quiet(Ownership now, @Nullable MemberId wanted) {
		// If the store's clock was set back, the rest would last much too long: the store
		// refuses to assign the shard then, and begins the rest anew.
		boolean clockSetBack = this.nowMillis < now.sinceMillis() - CLOCK_DISAGREEMENT_MILLIS;
		long restEndsMillis = clockSetBack ? 0 : now.untilMillis();
		assign(now.shard(), now.generation(), wanted, restEndsMillis);
		boolean rests = this.nowMillis < Math.max(restEndsMillis, this.claimsUntilMillis);
		if (rests && !Objects.equals(now.target(), wanted)) {
			// Who is to get it can prepare meanwhile.
			this.transitions.add(new Retarget(now.shard(), now.generation(), wanted));
		}
	}

	/** 0 stands for never. */
	private static long earlier(long oneMillis, long otherMillis) {
		return (oneMillis != 0) ? Math.min(oneMillis, otherMillis) : otherMillis;
	}

	/**
	 * Completes the plan.
	 * @param isStep whether there are moves to come when some of these were made: those
	 * that hang must not hold them up for ever
	 */
	Plan build(boolean isStep) {
		this.urgentMoves.addAll(this.moves);
		int most = this.rules.mostConcurrentMoves();
		int room = (most != 0) ? Math.max(most - this.movesUnderWay, 0) : this.urgentMoves.size();
		boolean heldBack = room < this.urgentMoves.size();
		if ((heldBack || isStep) && this.firstOverdueMillis != 0) {
			this.nextMillis = earlier(this.nextMillis, this.firstOverdueMillis);
		}
		List<Transition> all = new ArrayList<>();
		this.assigned.values().forEach(all::addAll);
		all.addAll(this.transitions);
		all.addAll(heldBack ? this.urgentMoves.subList(0, room) : this.urgentMoves);
		return new Plan(Collections.unmodifiableList(all), this.nextMillis, heldBack);
	}

}
