package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The problems of a group as a member knows them: those that the leader publishes, and
 * the lack of a leader that publishes. Confined to the coordinator's loop.
 */
public final class GroupWatch {

	private final Duration patience;

	/** Start of the time without a publishing leader; {@code null} while there is one. */
	private @Nullable MonotonicTime leaderlessSince;

	private Instant leaderlessSinceStoreTime = Instant.EPOCH;

	public GroupWatch(Duration lease) {
		this.patience = lease.multipliedBy(2);
	}

	/** Returns the current problems after the reply to a heartbeat. */
	public List<GroupProblem> heartbeatAnswered(HeartbeatReply.Alive reply, MonotonicTime now) {
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

	/** Stops watching until the next session. */
	public void sessionLost() {
		this.leaderlessSince = null;
	}

}
