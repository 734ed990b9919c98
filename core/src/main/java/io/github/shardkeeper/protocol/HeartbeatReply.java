package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.shard.MemberId;

/** The reply to a heartbeat. Immutable. */
public sealed interface HeartbeatReply {

	/**
	 * The session continues.
	 *
	 * @param leader the leader; {@code null} for none
	 * @param leaderLeaseEndMillis the end of the leader's lease, in the store's time: a
	 * heartbeat after it elects another leader; 0 without a leader
	 * @param earliestLeaseEndMillis the earliest end of all leases, in the store's time
	 * @param through the generation up to which this reply contains the member's changes;
	 * lower than {@code generation} when there are more
	 * @param changes the changed shards that the member owns or is to get
	 * @param history the number of the history of the group; a new one means that the
	 * store was emptied or has lost writes
	 * @param lost whether the store has lost writes that this member saw: the changes
	 * then list, over as many replies as needed, everything that the member owns or is to
	 * get
	 * @param subscribed whether the store sees a subscription to the member's channel
	 * @param claimsUntilMillis the earliest end of the claim period, in the store's time;
	 * 0 after a leader has ended the period
	 * @param loads the number of load reports so far
	 * @param setBacks the number of times that the store's clock was set back
	 * @param ownLeaseEndMillis the end of the member's lease before this heartbeat
	 * renewed it, in the store's time; earlier than the previous reply made it if the
	 * store has lost that reply
	 * @param longestLeaseMillis the longest lease of all members that may hold a shard,
	 * as far as the group remembers
	 * @param directives the version of the group's directives; 0 if there were never any
	 */
	record Alive(long serverTimeMillis, @Nullable MemberId leader, long epoch, long leaderLeaseEndMillis,
			long earliestLeaseEndMillis, long generation, long membership, long through, List<Ownership> changes,
			long history, boolean lost, boolean subscribed, long claimsUntilMillis, long loads, long setBacks,
			long ownLeaseEndMillis, long longestLeaseMillis, GroupStatus status,
			long directives) implements HeartbeatReply {

		/** Creates the reply of a group without leases and directives. */
		public Alive(long serverTimeMillis, @Nullable MemberId leader, long epoch, long leaderLeaseEndMillis,
				long earliestLeaseEndMillis, long generation, long membership, long through, List<Ownership> changes,
				long history, boolean lost, boolean subscribed, long claimsUntilMillis, long loads, long setBacks,
				long ownLeaseEndMillis, GroupStatus status) {
			this(serverTimeMillis, leader, epoch, leaderLeaseEndMillis, earliestLeaseEndMillis, generation, membership,
					through, changes, history, lost, subscribed, claimsUntilMillis, loads, setBacks, ownLeaseEndMillis,
					0, status, 0);
		}

		/** Returns whether to send the next heartbeat now, for more changes. */
		public boolean hasMore() {
			return this.through < this.generation;
		}

		/** Returns what the next heartbeat reports as seen. */
		public Seen seen() {
			return new Seen(this.history, this.through).withLongestLease(this.longestLeaseMillis);
		}

	}

	/** The session is over: the member rejoins under a new id. */
	record Expired() implements HeartbeatReply {

	}

	/**
	 * The knowledge of a member about its group and the store's clock. A store that knows
	 * less has lost writes; a clock that shows less was set back. Immutable.
	 *
	 * @param history the number of the group's history in the last reply; 0 at first
	 * @param generation the generation up to which the member received its changes; 0 to
	 * receive everything
	 * @param earliestMillis the earliest time that the store's clock can show when the
	 * heartbeat arrives, unless it was set back; 0 if unknown
	 * @param longestLeaseMillis the longest lease in the group; 0 if unknown
	 */
	record Seen(long history, long generation, long earliestMillis, long longestLeaseMillis) {

		public static final Seen NOTHING = new Seen(0, 0);

		/** Creates a value without knowledge of clock and leases. */
		public Seen(long history, long generation) {
			this(history, generation, 0, 0);
		}

		/** Returns a copy with the earliest time that the store's clock can show. */
		public Seen withClock(long earliest) {
			return new Seen(this.history, this.generation, earliest, this.longestLeaseMillis);
		}

		/** Returns a copy with the longest lease of the group. */
		public Seen withLongestLease(long longest) {
			return new Seen(this.history, this.generation, this.earliestMillis, longest);
		}

	}

}
