package io.github.shardkeeper.handover;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a member knows of the problems of its group: those that the leader tells, and that
 * nobody leads, or that who does tells nothing, for two leases. Not thread-safe: confined
 * to the coordinator's loop.
 */
public final class GroupWatch {

	private final Duration patience;

	/** Since when no leader has told anything. */
	private @Nullable MonotonicTime leaderlessSince;

	private Instant leaderlessSinceStoreTime = Instant.EPOCH;

	/**
	 * Creates a watch that knows nothing.
	 * @param lease the member's lease
	 */
	public GroupWatch(Duration lease) {
		this.patience = lease.multipliedBy(2);
	}

	/**
	 * A heartbeat was answered.
	 * @param reply the answer
	 * @param now the time
	 * @return what is known now
	 */
	public List<GroupProblem> answered(HeartbeatReply.Alive reply, MonotonicTime now) {
		List<GroupProblem> problems = new ArrayList<>(reply.status().problems().problems());
		if (reply.leader() != null && reply.status().epoch() == reply.epoch()) {
			this.leaderlessSince = null;
		}
		else if (this.leaderlessSince == null) {
			this.leaderlessSince = now;
			this.leaderlessSinceStoreTime = Instant.ofEpochMilli(reply.serverTimeMillis())
				.truncatedTo(ChronoUnit.SECONDS);
		}
		else if (this.leaderlessSince.until(now).compareTo(this.patience) > 0) {
			problems.add(new GroupProblem(true, "leadership",
					"No leader has completed a pass since " + this.leaderlessSinceStoreTime
							+ ", so nobody takes over the shards of an instance that stops. The logs of the instances "
							+ "say why they cannot lead",
					""));
		}
		return List.copyOf(problems);
	}

	/** The member has no session any more: it watches nothing. */
	public void sessionLost() {
		this.leaderlessSince = null;
	}

}
