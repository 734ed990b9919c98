package io.github.shardkeeper.coordination.memory;

import java.util.NavigableMap;
import java.util.TreeMap;

import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.shard.MemberId;

/**
 * A member's place in the group. Confined to the lock of its store.
 */
final class Session {

	final MemberId id;

	private final MemberDescription description;

	private final long leaseMillis;

	private final long timeoutMillis;

	private boolean leaving;

	private long leaseEnd;

	/** The shards that it owns, by the generation of their last change. */
	final NavigableMap<Long, Ownership> owned = new TreeMap<>();

	Session(MemberId id, MemberDescription description, long leaseMillis, long timeoutMillis) {
		this.id = id;
		this.description = description;
		this.leaseMillis = leaseMillis;
		this.timeoutMillis = timeoutMillis;
	}

	void renew(long now) {
		this.leaseEnd = now + this.leaseMillis;
	}

	void startLeaving() {
		this.leaving = true;
	}

	boolean isLeaving() {
		return this.leaving;
	}

	long leaseMillis() {
		return this.leaseMillis;
	}

	long timeoutMillis() {
		return this.timeoutMillis;
	}

	long leaseEnd() {
		return this.leaseEnd;
	}

	long lastHeardFrom() {
		return this.leaseEnd - this.leaseMillis;
	}

	GroupMember toMember() {
		return new GroupMember(this.id, this.description, this.leaving);
	}

}
