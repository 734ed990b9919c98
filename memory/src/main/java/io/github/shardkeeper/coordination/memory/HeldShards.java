package io.github.shardkeeper.coordination.memory;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Releases and claims of a member's shards; the counterpart of {@code release-shards.lua}
 * and {@code claim-shards.lua}. Confined to the lock of its store.
 */
final class HeldShards {

	private final Group group;

	private final MemberId member;

	HeldShards(Group group, MemberId member) {
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
		else if (shard.phase() == Phase.OWNED && this.group.restarts(this.member)) {
			this.group.keep(shard, quietMillis);
		}
		else {
			this.group.takeFromOwner(shard, quietMillis);
		}
		return ReleaseReply.RELEASED;
	}

	ClaimReply claim(Map<ShardId, Token> held, boolean leaseHeld) {
		Session session = this.group.sessions.get(this.member);
		if (session == null) {
			return ClaimReply.NONE;
		}
		Set<ShardId> granted = new LinkedHashSet<>();
		Set<ShardId> superseded = new LinkedHashSet<>();
		held.forEach((id, token) -> {
			Ownership shard = this.group.shards.get(id);
			if (shard == null || isGranted(shard, token, leaseHeld)) {
				grant(id, shard, token, session, leaseHeld);
				granted.add(id);
			}
			else if (isSuperseded(shard, token)) {
				superseded.add(id);
			}
		});
		return new ClaimReply(granted, superseded);
	}

	private boolean isGranted(Ownership shard, Token token, boolean leaseHeld) {
		if (isOwned(shard, token)) {
			return true;
		}
		int age = shard.token().compareTo(token);
		if (shard.phase() == Phase.COMPLETED || age > 0) {
			return false;
		}
		boolean isOwned = shard.owner() != null && this.group.sessions.get(shard.owner()) != null;
		if (age < 0) {
			// Another member may have presented the shard in time and consumed it since.
			return leaseHeld || this.member.equals(shard.owner()) || this.group.claimsUntil() > 0
					|| !isOwned && (shard.token().value() > this.group.history()
							|| shard.sinceMillis() * 1000 < this.group.history());
		}
		if (shard.owner() != null) {
			// Only an earlier session of this member can have this token, unless the
			// owner's session is being ended here.
			return !isOwned && (leaseHeld || token.value() < this.group.history());
		}
		// An earlier session of this member presented the shard and has ended; the shard
		// is quiet only because of the claim period.
		return !leaseHeld && token.value() < this.group.history() && shard.untilMillis() <= this.group.claimsUntil();
	}

	private void grant(ShardId id, @Nullable Ownership shard, Token token, Session session, boolean leaseHeld) {
		if (shard != null && isOwned(shard, token)) {
			return;
		}
		this.group.raiseTokenTo(token);
		if (this.group.claimsEnd() <= this.group.nowMillis() || !leaseHeld) {
			// The claim shows that writes are lost.
			this.group.openClaims(session.leaseMillis());
		}
		this.group.own(id, token, this.member);
		this.group.tellDisplaced(shard);
		this.group.notifyLeader();
	}

	private boolean isSuperseded(Ownership shard, Token token) {
		long history = this.group.history();
		return shard.phase() != Phase.COMPLETED && shard.token().compareTo(token) < 0
				|| token.value() < history && history < shard.token().value();
	}

	private boolean isOwned(Ownership shard, Token token) {
		return this.member.equals(shard.owner()) && token.equals(shard.token());
	}

}
