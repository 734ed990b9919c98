package io.github.shardkeeper.coordination.memory;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.handover.Transition;
import io.github.shardkeeper.shard.MemberId;

/**
 * Applies what the leader wants; the counterpart of {@code plan.lua}. An owner never
 * changes here: only a free shard gets one. Confined to the lock of its store.
 */
final class Planning {

	private final Group group;

	Planning(Group group) {
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
		Ownership shard = this.group.shard(transition.shard());
		long generation = (shard != null) ? shard.generation() : 0;
		if (generation != transition.expectedGeneration()) {
			return false;
		}
		if (transition instanceof Transition.Assign assign) {
			return assign(assign, shard);
		}
		if (transition instanceof Transition.Revoke revoke) {
			return move(shard, ShardPhase.OWNED, revoke.target());
		}
		if (transition instanceof Transition.Retarget retarget) {
			return move(shard, ShardPhase.REVOKING, retarget.target());
		}
		return false;
	}

	private boolean assign(Transition.Assign assign, @Nullable Ownership shard) {
		boolean free = shard == null || shard.phase() == ShardPhase.FREE;
		if (!free || !this.group.canTake(assign.owner())) {
			return false;
		}
		this.group.assign(assign.shard(), assign.owner());
		return true;
	}

	private boolean move(@Nullable Ownership shard, ShardPhase expected, @Nullable MemberId target) {
		boolean fits = target == null || this.group.canTake(target);
		if (!fits || shard == null || shard.phase() != expected) {
			return false;
		}
		this.group.revoke(shard, target);
		return true;
	}

}
