package io.github.shardkeeper.coordination.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.StoreUnavailableException.StoreFullException;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.LoadReport.LoadChanges;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.EndClaimsReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Store of the control plane of one group: its members, its leader, and the owners of its
 * shards. Each method is one atomic transition, or as many as its description says; the
 * Redis store runs the script of the same name for it. All deadlines are in the store's
 * time. Methods without a member need no membership.
 * <p>
 * Every method may throw {@link StoreUnavailableException}. Unless it is a
 * {@linkplain StoreUnavailableException#isRefusal() refusal}, the transition may have
 * been made, or may be made later. Retrying with the same arguments is always safe.
 * Thread-safe.
 */
public interface CoordinationStore extends AutoCloseable {

	/**
	 * Checks that the store can be used.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if it never
	 * can, for example because of wrong credentials or a version that is too old
	 */
	void verify();

	/**
	 * Returns the problems with the setup that let no command fail: the store may lose
	 * more writes than necessary, or its clock differs from this machine's. Consumption
	 * continues. Does not block.
	 * @return each problem and how to fix it; empty if there is none or it is not known
	 */
	default List<GroupProblem> setupProblems() {
		return List.of();
	}

	/**
	 * Returns the steps that the store refuses for a missing right. Consumption
	 * continues. Does not block.
	 * @return by step, in the infinitive, the reason and how to fix it
	 */
	default Map<String, String> refusedOperations() {
		return Map.of();
	}

	/** Returns the texts for people that the members of the group share. */
	default GroupDiagnostics diagnostics() {
		return GroupDiagnostics.NONE;
	}

	/** Returns the store of what operators want of the group. */
	default DirectiveStore directives() {
		return DirectiveStore.NONE;
	}

	/** Returns the store of the settings that instances compare before they join. */
	default SettingsStore settings() {
		return SettingsStore.NONE;
	}

	/**
	 * Opens the member's subscription to its own channel. It carries notifications, and
	 * proves that the member's process is alive: open it before the member joins.
	 * @param onEvent called on a thread of the store whenever a heartbeat would return
	 * changes; must not block
	 * @return the subscription; once closed it stays closed
	 * @throws StoreFullException if the store has no memory for it; the member may join
	 * without one
	 */
	Subscription subscribe(MemberId member, Runnable onEvent);

	/** Adds a member that knows of no lease in the group. */
	default void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout) {
		joinGroup(member, description, lease, timeout, Duration.ZERO);
	}

	/** Adds a member beside which others may run under its instance id. */
	default void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease) {
		joinGroup(member, description, lease, timeout, longestLease, false);
	}

	/**
	 * Adds a member. Repeating it for the same member is harmless. The join that creates
	 * a group, for the first time or after the store was emptied, starts the time for
	 * claims: all members can {@linkplain #claimShards claim} the shards they hold, for
	 * at least the longest lease that any of them knows of.
	 * @param member an id that was never used before
	 * @param lease the time after a heartbeat for which it may consume
	 * @param timeout the time after a heartbeat at which its session ends if its
	 * subscription is still open
	 * @param longestLease the longest lease in the group that the member knows, zero for
	 * none: if the store was emptied, that member may still hold shards
	 * @param alone whether no other process may run under the member's instance id
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if this
	 * version cannot read the group's format
	 * @throws StoreUnavailableException also if another process runs under the instance
	 * id: its subscription is open and its lease has not ended
	 */
	void joinGroup(MemberId member, MemberDescription description, Duration lease, Duration timeout,
			Duration longestLease, boolean alone);

	/** Replaces the description of a member, if known, and notifies the leader. */
	void updateDescription(MemberId member, MemberDescription description);

	/**
	 * Renews a session, elects a leader if there is none, and returns the member's
	 * changes.
	 * @param seen the {@link HeartbeatReply.Alive#seen()} of the last reply,
	 * {@link Seen#NOTHING} at first
	 * @param candidate whether the member can lead; a leader that cannot resigns
	 * @param load the load of the member's shards, kept for the leader until the session
	 * ends; {@link LoadReport#NONE} if nothing has changed
	 * @return the changes, or that the session is over
	 */
	HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load);

	/**
	 * Reads the load reports of the members. Makes several steps for many reports;
	 * together they are complete up to the returned version.
	 * @param afterVersion the version that was read last, 0 for all
	 */
	LoadChanges readLoads(long afterVersion);

	/**
	 * Reads the changes of the whole group. Makes several steps for a large group, each
	 * consistent in itself; together they are complete up to the returned generation.
	 * @param afterGeneration the generation that was read last, 0 for everything
	 * @param seenMembership the membership version that was read last, -1 for none
	 */
	GroupChanges readChanges(long afterGeneration, long seenMembership);

	/**
	 * Reads the changes of the whole group, like {@link #readChanges(long, long)}.
	 * @param onStep called on the caller's thread after the reply to each step
	 */
	default GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
		return readChanges(afterGeneration, seenMembership);
	}

	/**
	 * Applies transitions that the leader has planned, each only if its shard has not
	 * changed since. Returns the number that was applied, or that another member leads.
	 */
	PlanReply applyPlan(MemberId leader, long epoch, List<Transition> transitions);

	/**
	 * Ends the claim period. The store does not end it by its own clock, which may step:
	 * the leader does, once that time has passed by the leader's clock.
	 * @param untilMillis the end of the claim period, as a heartbeat has returned it
	 */
	EndClaimsReply endClaims(MemberId leader, long epoch, long untilMillis);

	/**
	 * Publishes the problems of the group: every heartbeat returns them from now on. Call
	 * it once per leadership, and whenever they change.
	 * @return whether they were published; {@code false} if another member leads
	 */
	boolean publishProblems(MemberId leader, long epoch, GroupProblems problems);

	/**
	 * Releases shards, which the member must not consume any longer. Each shard goes to
	 * the target of its move or becomes free, after the quiet period if there is one. A
	 * completed shard never has an owner again. An owned shard of a member that has
	 * {@linkplain #announceRestart announced} a restart is kept for its instance. Makes
	 * several steps for many shards.
	 * @return by release, in the same order, whether it was made, or the member was not
	 * the owner
	 */
	List<ReleaseReply> releaseShards(MemberId owner, List<HoldingAction.Release> releases, Duration quietPeriod);

	/**
	 * Restores the ownership of shards that the store does not know, or knows an older
	 * owner of, because it was emptied or has lost writes. Call it only for shards that
	 * the member holds under a lease that has not ended: nobody else can hold them, so an
	 * older token in the store is outdated. Makes several steps for many shards.
	 * <p>
	 * A shard is granted if the store does not know it; if it has an older token and is
	 * not completed, in which case its owner is notified; if this member already owns it
	 * under this token; or if it is owned under this token by a session that the store no
	 * longer knows, which was this member's. An unknown member is granted nothing.
	 */
	ClaimReply claimShards(MemberId member, Map<ShardId, Token> held);

	/**
	 * Restores the ownership of shards that the member held under a lease that has ended.
	 * The member's memory is the newest state there is, unless another member held the
	 * shards later and presents them as well: the highest token wins. Nobody may consume
	 * a presented shard before the claim period is over. Each granted shard restarts that
	 * time, so that members that return at about the same time can present theirs.
	 * <p>
	 * Grants what {@link #claimShards} would grant, but takes nothing from an owner once
	 * the claim period is over; and also shards that an earlier session of this member
	 * had presented, if no other member has got them since.
	 */
	ClaimReply presentShards(MemberId member, Map<ShardId, Token> held);

	/**
	 * Notifies the owners of shards that there is a request for them in the data plane:
	 * their next heartbeats, which come at once, return the shards again under the same
	 * tokens. Call it after the request was written. Ignores a shard that is unknown, has
	 * no owner or is being moved: its next owner reads the request anyway. Makes several
	 * steps for many shards.
	 */
	void notifyOwners(Collection<ShardId> shards);

	/**
	 * Ends the sessions of dead members: those without a heartbeat for a lease and
	 * without a subscription, and those without a heartbeat for a session timeout.
	 * @param steady the time over which the leader was able to observe others' heartbeats
	 * @param crashQuietPeriod the time for which nobody may own the shards of dead
	 * members
	 * @return the removed members and when to look again, or that another member leads
	 */
	ReapReply reapMembers(MemberId leader, long epoch, SteadyTime steady, Duration crashQuietPeriod);

	/**
	 * Forgets the shards of a topic that no member consumes, owns or is the target of. If
	 * a member consumes the topic again later, its shards are new to the group and get
	 * higher tokens than before. Does not change the data plane. Makes several steps for
	 * many shards.
	 * @return the number of forgotten shards, or the members that still use the topic
	 * @throws StoreUnavailableException during the claim period, or if the store does not
	 * know the group; a retry makes sense
	 */
	ForgetReply forgetShards(String topic);

	/** Announces a leave: the member still consumes while the leader moves its shards. */
	void announceLeave(MemberId member);

	/**
	 * Announces a leave for a restart: the member gets nothing new, and the shards that
	 * it {@linkplain #releaseShards releases} from now on are kept for its instance,
	 * unless they are being moved.
	 */
	void announceRestart(MemberId member);

	/**
	 * Ends a session like {@link #leaveGroup}. If the member has
	 * {@linkplain #announceRestart announced} a restart, its instance is away: a leader
	 * gives the kept shards to the next session of the instance, or to others when the
	 * time is over.
	 * @param awayTimeout the time for which its shards are kept
	 */
	void leaveForRestart(MemberId member, Duration quietPeriod, Duration awayTimeout);

	/**
	 * Ends a session. The member must have stopped consuming. Shards that it still owns
	 * are released, as far as one step can; the leader's next {@link #reapMembers}
	 * releases the rest. A leader resigns. Ignores unknown members.
	 */
	void leaveGroup(MemberId member, Duration quietPeriod);

	@Override
	void close();

	interface Subscription extends AutoCloseable {

		/**
		 * {@return whether the subscription is open, as far as this process knows; if
		 * not, close it and subscribe again: without it the member counts as dead}
		 */
		boolean isOpen();

		/**
		 * Returns whether messages arrive. Call it about once per heartbeat: the
		 * subscription may find out with a message to itself. Does not block.
		 */
		default Hearing hearing() {
			return Hearing.HEARS;
		}

		@Override
		void close();

	}

	/** Whether messages arrive on a subscription. */
	enum Hearing {

		/** None has arrived yet. */
		UNKNOWN,

		HEARS,

		/** One was published, and did not arrive. */
		DEAF

	}

	enum ReleaseReply {

		RELEASED,

		/** The member did not own the shard under that token. */
		STALE

	}

	/**
	 * The reply to claimed or presented shards. Immutable.
	 *
	 * @param granted the shards that the member owns now, under its tokens
	 * @param superseded the shards that the store had lost and has assigned to another
	 * member since: the member's state comes too late. Other shards that are not granted
	 * had moved before the loss
	 */
	record ClaimReply(Set<ShardId> granted, Set<ShardId> superseded) {

		public static final ClaimReply NONE = new ClaimReply(Set.of(), Set.of());

	}

}
