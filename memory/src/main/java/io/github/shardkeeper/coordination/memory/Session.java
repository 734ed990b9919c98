package io.github.shardkeeper.coordination.memory;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.MemberId;

/** A member's place in the group. Confined to the lock of its store. */
final class Session {

	final MemberId id;

	private MemberDescription description;

	private final long leaseMillis;

	private final long timeoutMillis;

	private boolean leaving;

	private boolean restarting;

	private long leaseEnd;

	/** Generation up to which the member has read its changes. */
	long told;

	private LoadReport load = LoadReport.NONE;

	/** The group's number of load reports, including this one. */
	private long loadVersion;

	Session(MemberId id, MemberDescription description, long leaseMillis, long timeoutMillis) {
		this.id = id;
		this.description = description;
		this.leaseMillis = leaseMillis;
		this.timeoutMillis = timeoutMillis;
	}

	Session copy() {
		Session copy = new Session(this.id, this.description, this.leaseMillis, this.timeoutMillis);
		copy.leaving = this.leaving;
		copy.restarting = this.restarting;
		copy.leaseEnd = this.leaseEnd;
		copy.takeOver(this);
		return copy;
	}

	/** Keeps the data that survives when a member joins again under the same id. */
	void takeOver(Session before) {
		this.told = before.told;
		this.load = before.load;
		this.loadVersion = before.loadVersion;
	}

	void describe(MemberDescription changed) {
		this.description = changed;
	}

	void report(LoadReport newLoad, long version) {
		this.load = newLoad;
		this.loadVersion = version;
	}

	LoadReport load() {
		return this.load;
	}

	long loadVersion() {
		return this.loadVersion;
	}

	void renew(long now) {
		this.leaseEnd = now + this.leaseMillis;
	}

	/** Ends the session; some of its shards may still have to be freed. */
	void end() {
		this.leaseEnd = 0;
	}

	void startLeaving() {
		this.leaving = true;
		this.restarting = false;
	}

	void startRestarting() {
		this.leaving = true;
		this.restarting = true;
	}

	boolean isRestarting() {
		return this.restarting;
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

	boolean subscriptionHidden() {
		return this.description.subscriptionHidden();
	}

	MemberDescription description() {
		return this.description;
	}

	GroupMember toMember() {
		return new GroupMember(this.id, this.description, this.leaving, this.restarting);
	}

}
