package io.github.shardkeeper.coordination;

import java.util.function.BooleanSupplier;

import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.LoadReport;
import io.github.shardkeeper.handover.Seen;
import io.github.shardkeeper.shard.MemberId;

/**
 * What the heartbeats of one session tell, and what was heard. Wishes are written under
 * the lock of the {@link HeartbeatScheduler}; the rest is confined to its loop.
 */
final class HeartbeatSession {

	private final MemberId member;

	private final BooleanSupplier candidate;

	/** The report that was not answered yet. */
	private volatile LoadReport load = LoadReport.NONE;

	/** How often what was seen was to be told again. */
	private volatile int forgetRequests;

	/** The store may have lost what it has answered. */
	private volatile boolean doubted;

	/** How many of the losses were reconciled. */
	private volatile int lossesReconciled;

	/** Confined to the loop, as is all below. */
	private int losses;

	private int forgetRequestsAnswered;

	/** Up to where the next heartbeat goes on. */
	private Seen seen = Seen.NOTHING;

	/** Of the group, as it was told last. */
	private long longestLeaseMillis;

	/** More than that while everything is told again, page by page. */
	private Seen mostSeen = Seen.NOTHING;

	HeartbeatSession(MemberId member, boolean unreconciled, BooleanSupplier candidate) {
		this.member = member;
		this.losses = unreconciled ? 1 : 0;
		this.candidate = candidate;
	}

	MemberId member() {
		return this.member;
	}

	boolean isCandidate() {
		return this.candidate.getAsBoolean();
	}

	LoadReport load() {
		return this.load;
	}

	void load(LoadReport newer) {
		this.load = newer;
	}

	/** A report has arrived; there may be a newer one by now. */
	void reported(LoadReport arrived) {
		if (this.load.equals(arrived)) {
			this.load = LoadReport.NONE;
		}
	}

	/** Has everything told anew by the next heartbeat that is not doubted. */
	void forget() {
		this.forgetRequests++;
	}

	int forgetRequests() {
		return this.forgetRequests;
	}

	void forgotten(int requests) {
		this.forgetRequestsAnswered = requests;
	}

	/** Has the next heartbeat tell all that was seen. */
	void doubt() {
		this.doubted = true;
	}

	boolean takeDoubt() {
		if (!this.doubted) {
			// Nothing is written: a doubt may come up just now.
			return false;
		}
		this.doubted = false;
		return true;
	}

	void reconciled(int losses) {
		this.lossesReconciled = losses;
	}

	boolean isReconciled() {
		return this.losses == this.lossesReconciled;
	}

	/**
	 * What a heartbeat says was seen. Nothing of it is kept before it is answered: if it
	 * fails because of a failover, only what was seen tells whether that has lost writes.
	 */
	Seen toTell(boolean doubted, int forgetRequests) {
		return toSay(doubted, forgetRequests).withLongestLease(this.longestLeaseMillis);
	}

	private Seen toSay(boolean doubted, int forgetRequests) {
		if (doubted) {
			return this.mostSeen;
		}
		return (forgetRequests != this.forgetRequestsAnswered) ? new Seen(this.seen.history(), 0) : this.seen;
	}

	void lostWrites() {
		this.losses++;
	}

	void heard(HeartbeatReply.Alive alive) {
		Seen now = alive.seen();
		this.longestLeaseMillis = alive.longestLeaseMillis();
		if (now.history() != this.mostSeen.history() || now.generation() > this.mostSeen.generation()) {
			this.mostSeen = now;
		}
		// A store that has told all, and less than was seen, has lost writes: the next
		// heartbeat has it notice.
		this.seen = alive.hasMore() ? now : this.mostSeen;
	}

}
