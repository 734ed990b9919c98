package io.github.shardkeeper.coordination.memory;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.shard.MemberId;

/**
 * Applies the leader's plan; the counterpart of {@code apply-plan.lua}. It never replaces
 * an owner: only a shard that is free, or whose quiet period is over, gets one, and none
 * during the claim period. Confined to the lock of its store.
 */
final class PlanExecutor {

	private final Group group;

	PlanExecutor(Group group) {
		this.group = group;
	}

	PlanReply apply(List<Transition> transitions) {
		int applied = 0;
		for (Transition transition : transitions) {
			if (apply(transition)) {
				applied++;
			}
		}
		return new PlanReply.Applied(applied, transitions.size() - applied);
	}

	private boolean apply(Transition transition) {
		Ownership shard = this.group.shards.get(transition.shard());
		long generation = (shard != null) ? shard.generation() : 0;
		if (generation != transition.expectedGeneration()) {
			return false;
		}
		if (transition instanceof Transition.Assign assign) {
			return assign(assign, shard);
		}
		if (shard == null) {
			return false;
		}
		if (transition instanceof Transition.Revoke revoke) {
			return revoke(shard, revoke.target());
		}
		if (transition instanceof Transition.Retarget retarget) {
			return retarget(shard, retarget.target());
		}
		return cancel(shard);
	}

	private boolean assign(Transition.Assign assign, @Nullable Ownership shard) {
		if (!this.group.canTake(assign.owner()) || !isAvailable(shard)) {
			return false;
		}
		this.group.assign(assign.shard(), assign.owner());
		return true;
	}

	private boolean isAvailable(@Nullable Ownership shard) {
		if (this.group.claimsUntil() > 0) {
			return false;
		}
		if (shard == null || shard.phase() == Phase.FREE) {
			return true;
		}
		long now = this.group.nowMillis();
		if (shard.phase() == Phase.QUIET && now < shard.sinceMillis()) {
			this.group.rest(shard, shard.target(), restEnd(shard));
			return false;
		}
		return shard.phase() == Phase.QUIET && now >= shard.untilMillis();
	}

	private long restEnd(Ownership shard) {
		long now = this.group.nowMillis();
		// If the clock was set back, by an unknown time, the quiet period starts again.
		return (now < shard.sinceMillis()) ? now + shard.untilMillis() - shard.sinceMillis() : shard.untilMillis();
	}

	private boolean revoke(Ownership shard, @Nullable MemberId target) {
		if (shard.phase() != Phase.OWNED || !fits(target)) {
			return false;
		}
		this.group.revoke(shard, target);
		return true;
	}

	private boolean retarget(Ownership shard, @Nullable MemberId target) {
		if (!fits(target)) {
			return false;
		}
		if (shard.phase() == Phase.REVOKING) {
			this.group.revoke(shard, target);
			return true;
		}
		if (shard.phase() == Phase.QUIET) {
			this.group.rest(shard, target, restEnd(shard));
			this.group.notify(target);
			return true;
		}
		return false;
	}

	private boolean cancel(Ownership shard) {
		MemberId owner = shard.owner();
		if (shard.phase() != Phase.REVOKING || owner == null) {
			return false;
		}
		this.group.own(shard.shard(), shard.token(), owner);
		this.group.notify(owner);
		return true;
	}

	private boolean fits(@Nullable MemberId target) {
		return target == null || this.group.canTake(target);
	}

}
