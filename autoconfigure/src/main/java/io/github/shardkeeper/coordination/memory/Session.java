package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.MemberDescription;
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

	/** The generation up to which the member was told its changes. */
	long told;

	Session(MemberId id, MemberDescription description, long leaseMillis, long timeoutMillis) {
		this.id = id;
		this.description = description;
		this.leaseMillis = leaseMillis;
		this.timeoutMillis = timeoutMillis;
	}

	Session copy() {
		Session copy = new Session(this.id, this.description, this.leaseMillis, this.timeoutMillis);
		copy.leaving = this.leaving;
		copy.leaseEnd = this.leaseEnd;
		copy.told = this.told;
		return copy;
	}

	void renew(long now) {
		this.leaseEnd = now + this.leaseMillis;
	}

	/** It is gone; what is left is only that some of its shards are still to be freed. */
	void end() {
		this.leaseEnd = 0;
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
