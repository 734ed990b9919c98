package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.HoldingAction;
import io.github.shardkeeper.protocol.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
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
	 * What is wrong with how the store is set up, so that it may lose more than it has
	 * to: nothing stands still because of it. Does not block.
	 * @return what is wrong and what to do; empty for nothing, and if that is not known
	 */
	default Optional<String> durabilityProblem() {
		return Optional.empty();
	}

	/**
	 * What the store refuses for a missing right although nothing stands still without
	 * it. Answers from memory, at once.
	 * @return by step, in the infinitive, why it is refused and what to do
	 */
	default Map<String, String> refusedOperations() {
		return Map.of();
	}

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
	 * Makes a member known. Repeating it for the same member is harmless. The join that
	 * begins a group, be it for the first time or because the store was emptied, gives
	 * all members as much time to {@linkplain #claimShards claim} what they hold as the
	 * longest lease lasts of which any of them knows.
	 * @param member an id that was never used before
	 * @param description what the others must know of it
	 * @param lease how long after a heartbeat it may consume
	 * @param timeout how long after a heartbeat its session ends, if its subscription is
	 * still open
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * group was written in a format that this version cannot read
	 */
	default void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout) {
		joinGroup(member, description, lease, timeout, Duration.ZERO);
	}

	/**
	 * The same for a member that has been in the group before.
	 * @param member an id that was never used before
	 * @param description what the others must know of it
	 * @param lease how long after a heartbeat it may consume
	 * @param timeout how long after a heartbeat its session ends, if its subscription is
	 * still open
	 * @param longestLease the longest lease of the group that it was told of, zero for
	 * none: the store may have been emptied, and who holds that one may not be heard yet
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * group was written in a format that this version cannot read
	 */
	void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease);

	/**
	 * Replaces what the others must know of a member, and lets the leader know. Harmless
	 * for a member that is unknown.
	 * @param member the member
	 * @param description what it is now
	 */
	void updateDescription(MemberId member, MemberDescription description);

	/**
	 * Renews a session, elects a leader when there is none, and tells what is new.
	 * @param member the member
	 * @param seen the {@link HeartbeatReply.Alive#seen()} of the last reply,
	 * {@link Seen#NOTHING} at first
	 * @param candidate whether the member is fit to lead; a leader that is not resigns
	 * @param load what the member's shards take, to be kept for the leader until the
	 * session ends; {@link LoadReport#NONE} when nothing has changed
	 * @return the news, or that the session is over
	 */
	HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load);

	/**
	 * Reads the load reports of the members; needs no membership. Several steps for many
	 * reports, each consistent in itself, together complete up to the returned version.
	 * @param afterVersion the version seen last, 0 for all
	 * @return the reports that have come since
	 */
	LoadChanges readLoads(long afterVersion);

	/**
	 * Reads what has changed in the whole group; needs no membership. Several steps for a
	 * large group, each consistent in itself, together complete up to the returned
	 * generation.
	 * @param afterGeneration the generation seen last, 0 for everything
	 * @param seenMembership the membership version seen last, -1 for none
	 * @return the changes
	 */
	GroupChanges readChanges(long afterGeneration, long seenMembership);

	/**
	 * Reads what has changed in the whole group, and tells after each of several steps
	 * that it goes on.
	 * @param afterGeneration the generation seen last, 0 for everything
	 * @param seenMembership the membership version seen last, -1 for none
	 * @param onStep called on the caller's thread whenever a step was answered
	 * @return the changes
	 */
	default GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
		return readChanges(afterGeneration, seenMembership);
	}

	/**
	 * Applies changes that the leader wants.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param transitions the changes, each compared-and-set
	 * @return how many were applied, or that somebody else leads
	 */
	PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions);

	/**
	 * Ends the time in which members may claim what they hold. The store does not end it
	 * by its own clock, which may step: the leader does when it has watched that time by
	 * its own.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param untilMillis when it may end, as a heartbeat's answer has told
	 * @return whether it is over
	 */
	EndClaimsReply endClaims(MemberId leader, long epoch, long untilMillis);

	/**
	 * Tells all members what is wrong with the group: every heartbeat's answer carries it
	 * from now on. To be called once in each leadership, and when it changes.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param problems what it has found
	 * @return whether it was told; {@code false} when somebody else leads
	 */
	boolean publishProblems(MemberId leader, long epoch, GroupProblems problems);

	/**
	 * Gives shards up, after which the member must not consume them. Each goes straight
	 * to the target of its move, or becomes free; with a quiet period it rests before. A
	 * completed one goes to nobody any more. Repeating it is harmless. Several steps for
	 * many shards, each atomic in itself.
	 * @param owner the owner
	 * @param releases the shards, with the tokens under which they are owned
	 * @param quietPeriod how long nobody may own them then
	 * @return for each release, in their order, whether it was made, or the shard was not
	 * the member's any longer
	 */
	List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases, Duration quietPeriod);

	/**
	 * Takes possession of shards that the store does not know, or knows an older owner
	 * of, because it was emptied or has lost writes. A shard is granted when the store
	 * does not know it, or under an older token only, unless it is completed; and when
	 * this member owns it under this very token already, so that repeating it is
	 * harmless; and when it is owned under this very token by a session that the store
	 * does not know any more, which was this member's. To be called only for shards that
	 * the member holds under a lease that has not ended at the moment of the call: nobody
	 * else can hold them then, so what the store says of an older token is out of date,
	 * and an owner of before is told to give way. Several steps for many shards, each
	 * atomic in itself.
	 * @param member the member; an unknown one is granted nothing
	 * @param held what it holds, with the tokens under which it does
	 * @return the shards that it owns now, under those tokens, and those that came too
	 * late
	 */
	ClaimReply claimShards(MemberId member, Map<ShardId, Token> held);

	/**
	 * Takes back shards that the member held under a lease that has ended, and of which
	 * the store has lost that: its memory is the newest there is, unless somebody held
	 * them after it and presents them, too. So the highest token wins, and nobody may
	 * consume a shard that was presented before the time for claims is over; each shard
	 * that is granted has that time begin anew, so that others who come back at about the
	 * same time are heard. Granted is what {@link #claimShards} would grant, but nothing
	 * is taken from an owner when that time is over already; and what was presented
	 * before by a session of the member's that has ended since, if nobody has got it
	 * meanwhile.
	 * @param member the member; an unknown one is granted nothing
	 * @param held what it held, with the tokens under which it did
	 * @return the shards that it owns now, under those tokens, and those that came too
	 * late
	 */
	ClaimReply presentShards(MemberId member, Map<ShardId, Token> held);

	/**
	 * Has the owners of shards look at the data plane, because somebody has left a
	 * request there: with its next heartbeat, which a notification makes come at once,
	 * each is told of its shard again, under the same token. To be called after the
	 * request was written. A shard that nobody owns, that is being given up, or that is
	 * unknown is left alone: who acquires it, or keeps it after all, looks by itself.
	 * Ownership does not change, and no plan that is under way is disturbed. Repeating it
	 * is harmless. Needs no membership. Several steps for many shards, each atomic in
	 * itself.
	 * @param shards the shards
	 */
	void notifyOwners(Collection<ShardId> shards);

	/**
	 * Ends the sessions of members that are dead: no heartbeat for a lease and no
	 * subscription, or no heartbeat for a session timeout.
	 * @param leader the leader
	 * @param epoch its epoch
	 * @param steady the time over which the silence of others proves something
	 * @param crashQuietPeriod how long nobody may own the shards of the dead
	 * @return who is gone and when to look again, or that somebody else leads
	 */
	ReapReply reapMembers(MemberId leader, long epoch, SteadyTime steady, Duration crashQuietPeriod);

	/**
	 * Forgets the shards of a topic that no member consumes, owns or is to get, in the
	 * same atomic steps in which that is looked at: several for many shards. If a member
	 * consumes the topic again later, its shards are new to the group, under tokens that
	 * are greater than before. Nothing of the data plane is touched. Needs no membership.
	 * Repeating it is harmless.
	 * @param topic the topic; one that the group does not know is forgotten
	 * @return how many shards were forgotten, or which members keep the topic from it
	 * @throws StoreUnavailableException while members may claim shards that the group
	 * does not know, or when the store knows nothing of the group; a retry makes sense
	 */
	ForgetReply forgetShards(String topic);

	/**
	 * Announces that a member leaves: the leader moves its shards away while it still
	 * consumes them.
	 * @param member the member
	 */
	void announceLeave(MemberId member);

	/**
	 * Ends a session. The member must have stopped consuming; shards that it still owns
	 * go where a release would have brought them, very many of them only with the
	 * leader's next look for the dead. A leader resigns with it. Harmless for a member
	 * that is unknown.
	 * @param member the member
	 * @param quietPeriod how long nobody may own its shards then
	 */
	void leaveGroup(MemberId member, Duration quietPeriod);

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

	/** The answer to a release. */
	enum ReleaseReply {

		/** The shard went to its target, rests, is free, or is completed. */
		RELEASED,

		/** The member did not own it under that token (any longer). */
		STALE

	}

	/**
	 * The answer to claimed or presented shards. Immutable.
	 *
	 * @param granted those that the member owns now, under the tokens that it named
	 * @param superseded those that it held before the store lost that, and that were
	 * given to somebody else since: what the member has of them comes too late. Others
	 * that are not granted had moved on before
	 */
	record ClaimReply(Set<ShardId> granted, Set<ShardId> superseded) {

		/** Nothing was asked for. */
		public static final ClaimReply NONE = new ClaimReply(Set.of(), Set.of());

	}

}
