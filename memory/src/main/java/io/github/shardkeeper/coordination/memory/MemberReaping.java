package io.github.shardkeeper.coordination.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.shard.MemberId;

/**
 * A search for dead members; the counterpart of {@code reap-members.lua}. No member is
 * removed before the end of its lease. Confined to the lock of its store.
 */
final class MemberReaping {

	private final Group group;

	private final SteadyTime steady;

	/** Not ahead of the leader's time, because the clock may have stepped. */
	private final long now;

	private final long quietMillis;

	private final Predicate<MemberId> subscribed;

	private final int limit;

	private int done;

	private final List<MemberId> dead = new ArrayList<>();

	private final List<MemberId> timedOut = new ArrayList<>();

	private final List<MemberId> slow = new ArrayList<>();

	private long nextLook;

	/**
	 * Creates a search.
	 * @param steady the time over which the leader was able to observe others' heartbeats
	 * @param limit maximum number of members to remove and shards to free
	 */
	MemberReaping(Group group, SteadyTime steady, long quietMillis, Predicate<MemberId> subscribed, int limit) {
		this.group = group;
		this.steady = steady;
		this.now = Math.min(group.nowMillis(), steady.untilMillis());
		this.quietMillis = quietMillis;
		this.subscribed = subscribed;
		this.limit = limit;
	}

	ReapReply.Looked look() {
		if (this.steady.setBacks() != this.group.setBacks()) {
			return new ReapReply.Looked(List.of(), List.of(), List.of(), 0);
		}
		for (Session session : this.group.sessions.late(this.now)) {
			if (this.done >= this.limit) {
				lookAgainAt(this.now);
				break;
			}
			if (!this.group.sessions.isKnown(session)) {
				remove(session);
			}
			else {
				judge(session);
			}
		}
		return new ReapReply.Looked(List.copyOf(this.dead), List.copyOf(this.timedOut), List.copyOf(this.slow),
				this.nextLook);
	}

	private void judge(Session session) {
		long silentSince = Math.max(session.lastHeardFrom(), this.steady.sinceMillis());
		long dueWhenGone = silentSince + session.leaseMillis();
		long dueAnyway = silentSince + session.timeoutMillis();
		if (this.now < dueWhenGone) {
			lookAgainAt(dueWhenGone);
		}
		else if (!session.subscriptionHidden() && !this.subscribed.test(session.id)) {
			this.dead.add(session.id);
			end(session);
		}
		else if (this.now >= dueAnyway) {
			this.timedOut.add(session.id);
			end(session);
		}
		else {
			this.slow.add(session.id);
			lookAgainAt(dueAnyway);
		}
	}

	private void end(Session session) {
		remove(session);
		this.group.membershipChanged();
	}

	private void remove(Session session) {
		this.done += 1 + this.group.remove(session, this.limit - this.done, this.quietMillis);
		if (this.group.sessions.isLeft(session)) {
			lookAgainAt(this.now);
		}
	}

	private void lookAgainAt(long millis) {
		this.nextLook = (this.nextLook == 0) ? millis : Math.min(this.nextLook, millis);
	}

}
