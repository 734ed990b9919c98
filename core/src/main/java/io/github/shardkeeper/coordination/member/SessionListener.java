package io.github.shardkeeper.coordination.member;

import io.github.shardkeeper.shard.MemberId;

/**
 * Listener to the sessions of a member. Called on the threads of coordinator and
 * heartbeats, which must not be blocked.
 */
public interface SessionListener {

	/**
	 * A heartbeat was answered.
	 * @param membership the version of the group's members
	 * @param lost whether the store has lost writes of the group
	 */
	void heartbeatAnswered(MemberId member, long membership, boolean lost);

	/** The lease has ended; the session may continue. */
	void leaseEnded();

	/** The lease is held again, in the same session or in another one. */
	void leaseResumed();

	/** The session is over. */
	void sessionEnded(MemberId member);

}
