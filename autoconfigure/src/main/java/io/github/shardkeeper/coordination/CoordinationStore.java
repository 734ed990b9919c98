package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.List;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.ReapReply;
import io.github.shardkeeper.handover.Transition;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The control plane of one group: who is a member, who leads, who owns which shard. Each
 * method is one atomic transition; all deadlines are in the store's own time.
 * <p>
 * Every method may throw {@link StoreUnavailableException}, after which the transition
 * may or may not have happened; each may then be repeated as it is. Thread-safe.
 */
public interface CoordinationStore extends AutoCloseable {

	/**
	 * Checks that the store can be used at all, for an early and clear error.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when it never
	 * can: wrong credentials, a version that is too old
	 */
	void verify();

	/**
	 * Opens the member's subscription to its own channel. It carries the events that
	 * concern the member, and its existence is the evidence that the member's process
	 * lives: it must be open before the member joins.
	 * @param member the member
	 * @param onEvent called on a thread of the store whenever a heartbeat would have
	 * news; must not block
	 * @return the subscription; closing it is final
	 */
	Subscription subscribe(MemberId member, Runnable onEvent);

	/**
	 * Makes a member known. Repeating it for the same member is harmless.
	 * @param member an id that was never used before
	 * @param description what the others must know of it
	 * @param lease how long after a heartbeat it may consume
	 * @param timeout how long after a heartbeat its session ends, if its subscription is
	 * still open
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * group was written in a format that this version cannot read
	 */
	void join(MemberId member, MemberDescription description, Duration lease, Duration timeout);

	/**
	 * Renews a session, elects a leader when there is none, and tells what is new.
	 * @param member the member
	 * @param seenGeneration the {@link HeartbeatReply.Alive#through()} of the last reply,
	 * 0 at first
	 * @param candidate whether the member is fit to lead; a leader that is not resigns
	 * @return the news, or that the session is over
	 */
	HeartbeatReply heartbeat(MemberId member, long seenGeneration, boolean candidate);

	/**
	 * Reads what has changed in the whole group; needs no membership. Several steps for a
	 * large group, each consistent in itself, together complete up to the returned
	 * generation.
	 * @param afterGeneration the generation seen last, 0 for everything
	 * @param seenMembership the membership version seen last, -1 for none
	 * @return the changes
	 */
	GroupChanges changes(long afterGeneration, long seenMembership);

	/**
	 * Applies changes that the leader wants.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param transitions the changes, each compared-and-set
	 * @return how many were applied, or that somebody else leads
	 */
	PlanReply plan(MemberId leader, long epoch, List<Transition> transitions);

	/**
	 * Gives a shard up, after which the member must not consume it. It goes straight to
	 * the target of the move, or becomes free. Repeating it is harmless.
	 * @param owner the owner
	 * @param shard the shard
	 * @param token the token under which it is owned
	 * @param tokenFloor the next token must be higher than this one too;
	 * {@link Token#NONE} normally, the fence's value when the fence was found ahead
	 * @return whether it was released, or was not the member's any longer
	 */
	ReleaseReply release(MemberId owner, ShardId shard, Token token, Token tokenFloor);

	/**
	 * Ends the sessions of members that are dead: no heartbeat for a lease and no
	 * subscription, or no heartbeat for a session timeout.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param steadySinceMillis since when, in milliseconds of the store's time, the
	 * leader's own heartbeats were answered without a gap; silence of others before that
	 * proves nothing
	 * @return who is gone and when to look again, or that somebody else leads
	 */
	ReapReply reap(MemberId leader, long epoch, long steadySinceMillis);

	/**
	 * Announces that a member leaves: the leader moves its shards away while it still
	 * consumes them.
	 * @param member the member
	 */
	void announceLeave(MemberId member);

	/**
	 * Ends a session. The member must have stopped consuming; shards that it still owns
	 * go to the targets of their moves or become free. A leader resigns with it. Harmless
	 * for a member that is unknown.
	 * @param member the member
	 */
	void leave(MemberId member);

	@Override
	void close();

	/** An open subscription; see {@link CoordinationStore#subscribe}. */
	interface Subscription extends AutoCloseable {

		/**
		 * Whether it still stands, as far as this process knows. One that does not is to
		 * be closed and opened anew: the member's life hangs on it.
		 * @return whether it is open
		 */
		boolean isOpen();

		@Override
		void close();

	}

}
