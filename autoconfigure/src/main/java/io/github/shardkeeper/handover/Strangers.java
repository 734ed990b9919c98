package io.github.shardkeeper.handover;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.shard.MemberId;

/**
 * Since when a leader sees shards with owners that are no members. For a moment that is
 * so with each member that has ended and had many shards. Confined to the coordinator's
 * loop.
 */
final class Strangers {

	private final Map<MemberId, Long> since = new HashMap<>();

	/** The picture was read. */
	void saw(GroupPicture picture, long nowMillis) {
		Set<MemberId> owners = new HashSet<>(picture.currentOwners());
		picture.members().forEach((member) -> owners.remove(member.id()));
		this.since.keySet().retainAll(owners);
		owners.forEach((owner) -> this.since.putIfAbsent(owner, nowMillis));
	}

	boolean contain(MemberId owner) {
		return !this.since.isEmpty() && this.since.containsKey(owner);
	}

	/** Since when it is no member, in the store's time. */
	long sinceMillis(MemberId owner) {
		return this.since.getOrDefault(owner, 0L);
	}

	void forget() {
		this.since.clear();
	}

}
