package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.shard.MemberId;

/**
 * The answer to a heartbeat.
 */
public sealed interface HeartbeatReply {

	/**
	 * The session goes on.
	 *
	 * @param serverTimeMillis the store's time
	 * @param leader who leads; {@code null} when nobody does
	 * @param epoch the leadership's number
	 * @param leaderLeaseEndMillis when the leader's lease ends, in the store's time: the
	 * time for a heartbeat that elects another; 0 when nobody leads
	 * @param earliestLeaseEndMillis when the first of all members' leases ends, in the
	 * store's time
	 * @param generation the group's generation
	 * @param membership the version of the list of members
	 * @param through the generation up to which the member's own changes are in this
	 * reply; lower than {@code generation} when there are more
	 * @param changes what has changed for the shards that the member owns or is to get
	 * @param history the number of the group's past; another one than before means that
	 * the store was emptied or has lost writes
	 * @param lost whether the store has lost writes that this member saw: the changes,
	 * over as many replies as it takes, tell everything that it owns or is to get
	 * @param subscribed whether the store sees a subscription to the member's own channel
	 * @param claimsUntilMillis until when, in the store's time, no free shard is given to
	 * anybody at least, because who holds it may still claim it; 0 when a leader has
	 * ended that time
	 * @param loads how many load reports the group has had
	 * @param setBacks how often the store's clock was seen to be set back
	 * @param ownLeaseEndMillis when the member's own lease ended before this heartbeat
	 * renewed it, in the store's time: earlier than the last answer has made it when the
	 * store has lost that
	 * @param longestLeaseMillis the longest lease of all who may hold a shard, as far as
	 * the group remembers
	 * @param status what is wrong with the group
	 */
	record Alive(long serverTimeMillis, @Nullable MemberId leader, long epoch, long leaderLeaseEndMillis,
			long earliestLeaseEndMillis, long generation, long membership, long through, List<Ownership> changes,
			long history, boolean lost, boolean subscribed, long claimsUntilMillis, long loads, long setBacks,
			long ownLeaseEndMillis, long longestLeaseMillis, GroupStatus status) implements HeartbeatReply {

		/**
		 * An answer of a group that remembers no lease.
		 * @param serverTimeMillis the store's time
		 * @param leader who leads
		 * @param epoch the leadership's number
		 * @param leaderLeaseEndMillis when the leader's lease ends
		 * @param earliestLeaseEndMillis when the first of all members' leases ends
		 * @param generation the group's generation
		 * @param membership the version of the list of members
		 * @param through the generation up to which the changes are told
		 * @param changes what has changed
		 * @param history the number of the group's past
		 * @param lost whether the store has lost writes
		 * @param subscribed whether the store sees a subscription
		 * @param claimsUntilMillis until when members may claim
		 * @param loads how many load reports the group has had
		 * @param setBacks how often the store's clock was seen to be set back
		 * @param ownLeaseEndMillis when the member's own lease ended before
		 * @param status what is wrong with the group
		 */
		public Alive(long serverTimeMillis, @Nullable MemberId leader, long epoch, long leaderLeaseEndMillis,
				long earliestLeaseEndMillis, long generation, long membership, long through, List<Ownership> changes,
				long history, boolean lost, boolean subscribed, long claimsUntilMillis, long loads, long setBacks,
				long ownLeaseEndMillis, GroupStatus status) {
			this(serverTimeMillis, leader, epoch, leaderLeaseEndMillis, earliestLeaseEndMillis, generation, membership,
					through, changes, history, lost, subscribed, claimsUntilMillis, loads, setBacks, ownLeaseEndMillis,
					0, status);
		}

		/**
		 * Whether the next heartbeat would bring more of the member's own changes.
		 * @return whether to ask again at once
		 */
		public boolean hasMore() {
			return this.through < this.generation;
		}

		/**
		 * What the member has seen with this reply.
		 * @return what to send with the next heartbeat
		 */
		public Seen seen() {
			return new Seen(this.history, this.through).withLongestLease(this.longestLeaseMillis);
		}

	}

	/**
	 * The session is over: drop everything and join anew under a new id.
	 */
	record Expired() implements HeartbeatReply {

	}

	/**
	 * What a member has seen of its group and of the store's clock. A store that knows
	 * less has lost writes; a clock that shows less was set back. Immutable.
	 *
	 * @param history the number of the group's past, as the last reply told it; 0 at
	 * first
	 * @param generation up to which the member was told its own changes; 0 for everything
	 * anew
	 * @param earliestMillis the earliest time that the store's clock can show when it
	 * hears of this, unless it was set back; 0 when that is not known
	 * @param longestLeaseMillis the longest lease under which anybody in the group may
	 * hold a shard; 0 when that is not known
	 */
	record Seen(long history, long generation, long earliestMillis, long longestLeaseMillis) {

		/** Nothing yet. */
		public static final Seen NOTHING = new Seen(0, 0);

		/**
		 * Creates what says nothing of the store's clock and of leases.
		 * @param history the number of the group's past
		 * @param generation up to which the member was told its own changes
		 */
		public Seen(long history, long generation) {
			this(history, generation, 0, 0);
		}

		/**
		 * Returns the same with what is known of the store's clock.
		 * @param earliest the earliest time that it can show, in milliseconds
		 * @return a copy
		 */
		public Seen withClock(long earliest) {
			return new Seen(this.history, this.generation, earliest, this.longestLeaseMillis);
		}

		/**
		 * Returns the same with what is known of the group's leases.
		 * @param longest the longest of them, in milliseconds
		 * @return a copy
		 */
		public Seen withLongestLease(long longest) {
			return new Seen(this.history, this.generation, this.earliestMillis, longest);
		}

	}

}
