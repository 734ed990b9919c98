package io.github.shardkeeper.coordination.memory;

import java.util.List;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.Ownership;

/**
 * The heartbeat of a known member; the counterpart of {@code heartbeat.lua}. Confined to
 * the lock of its store.
 */
final class Heartbeat {

	private final Group group;

	private final Session session;

	private final Seen seen;

	private final LoadReport load;

	Heartbeat(Group group, Session session, Seen seen, LoadReport load) {
		this.group = group;
		this.session = session;
		this.seen = seen;
		this.load = load;
	}

	HeartbeatReply.Alive reply(boolean candidate, boolean subscribed, int limit) {
		long remembered = this.session.leaseEnd();
		// Before any lease is compared with the clock.
		this.group.clockRead(this.seen.earliestMillis());
		boolean lost = haveWritesBeenLost();
		renew(candidate);
		this.group.report(this.session, this.load);
		boolean led = this.group.leaderLeaseEnd() > this.group.nowMillis();
		List<Ownership> news = this.group.shards.concerning(this.session.id, lost ? 0 : this.seen.generation(), limit);
		long generation = this.group.shards.generation();
		long through = (news.size() == limit) ? news.get(limit - 1).generation() : generation;
		this.session.told = lost ? through : Math.max(this.session.told, through);
		return new HeartbeatReply.Alive(this.group.nowMillis(), led ? this.group.leader() : null, this.group.epoch(),
				led ? this.group.leaderLeaseEnd() : 0, this.group.sessions.earliestLeaseEnd(), generation,
				this.group.membership(), through, news, this.group.history(), lost, subscribed, this.group.claimsEnd(),
				this.group.loads(), this.group.setBacks(), remembered, this.group.longestLeaseMillis(),
				this.group.status(), DirectiveTable.of(this.group).version());
	}

	/** Returns whether seen writes are lost; the first to notice starts a history. */
	private boolean haveWritesBeenLost() {
		long history = this.seen.history();
		if (history == 0) {
			return false;
		}
		boolean toldMore = history == this.group.history() && this.seen.generation() > this.session.told;
		if (history > this.group.history() || toldMore) {
			this.group.beginHistoryAfter(history, Math.max(this.session.leaseMillis(), this.seen.longestLeaseMillis()));
		}
		return history != this.group.history();
	}

	private void renew(boolean candidate) {
		// Before the lease is renewed: a leader silent for a lease starts a new epoch.
		boolean vacant = this.group.leaderLeaseEnd() <= this.group.nowMillis();
		this.session.renew(this.group.nowMillis());
		if (!candidate) {
			this.group.resign(this.session.id);
		}
		else if (vacant) {
			this.group.elect(this.session.id);
		}
	}

}
