package io.github.shardkeeper.coordination.memory;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.coordination.ReleaseReply;
import io.github.shardkeeper.handover.HoldingAction;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardPhase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What a member does with what it holds; the counterpart of {@code release.lua} and
 * {@code claim.lua}. Confined to the lock of its store.
 */
final class Holding {

	private final Group group;

	private final MemberId member;

	Holding(Group group, MemberId member) {
		this.group = group;
		this.member = member;
	}

	List<ReleaseReply> release(List<HoldingAction.Release> releases, long quietMillis) {
		return releases.stream().map((release) -> release(release, quietMillis)).toList();
	}

	private ReleaseReply release(HoldingAction.Release release, long quietMillis) {
		Ownership shard = this.group.shards.get(release.shard());
		if (shard == null || !isOwned(shard, release.token())) {
			return ReleaseReply.STALE;
		}
		this.group.raiseTokenTo(release.tokenFloor());
		if (release.completed()) {
			this.group.complete(shard);
		}
		else {
			this.group.takeFromOwner(shard, quietMillis);
		}
		return ReleaseReply.RELEASED;
	}

	Set<ShardId> claim(Map<ShardId, Token> held) {
		Set<ShardId> granted = new LinkedHashSet<>();
		Session session = this.group.sessions.get(this.member);
		if (session != null) {
			held.forEach((shard, token) -> {
				if (claim(shard, token, session)) {
					granted.add(shard);
				}
			});
		}
		return granted;
	}

	private boolean claim(ShardId id, Token token, Session session) {
		Ownership shard = this.group.shards.get(id);
		if (shard != null && isOwned(shard, token)) {
			return true;
		}
		if (shard != null && (shard.phase() == ShardPhase.COMPLETED || shard.token().compareTo(token) >= 0)) {
			return false;
		}
		this.group.raiseTokenTo(token);
		if (this.group.claimsUntil() == 0) {
			// Whoever claims what is not known tells of writes that are lost.
			this.group.openClaims(session.leaseMillis());
		}
		this.group.own(id, token, this.member);
		this.group.tellDisplaced(shard);
		this.group.notifyLeader();
		return true;
	}

	private boolean isOwned(Ownership shard, Token token) {
		return this.member.equals(shard.owner()) && token.equals(shard.token());
	}

}
