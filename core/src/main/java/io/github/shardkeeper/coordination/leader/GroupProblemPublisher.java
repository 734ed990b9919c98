package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatObserver;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.GroupProblems;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.member.GroupWatch;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Publishes the problems that this member has found as the leader, whenever they change,
 * and keeps those that it has read. Confined to the coordinator's loop, except
 * {@link #known}.
 */
public final class GroupProblemPublisher implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(GroupProblemPublisher.class);

	private final CoordinationStore store;

	private final MonotonicClock clock;

	private final GroupWatch watch;

	private final Duration pause;

	/** Problems in the store, by the last reply. */
	private GroupStatus told = GroupStatus.NONE;

	/** Time of the reply: heartbeats sent earlier may not have read it. */
	private @Nullable MonotonicTime publishedAt;

	private boolean versionLogged;

	private volatile List<GroupProblem> known = List.of();

	public GroupProblemPublisher(CoordinationSettings settings, CoordinationStore store, MonotonicClock clock) {
		this.store = store;
		this.clock = clock;
		this.watch = new GroupWatch(settings.lease());
		this.pause = settings.heartbeatInterval();
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		if (this.publishedAt == null || this.publishedAt.isBefore(reply.sentAt())) {
			this.told = reply.reply().status();
		}
		this.known = this.watch.heartbeatAnswered(reply.reply(), now);
		boolean passedOver = this.known.stream()
			.anyMatch((problem) -> problem.kind().equals("versions")
					&& problem.concerned().contains(reply.self().value()));
		if (passedOver && !this.versionLogged) {
			logger
				.warn("This instance gets no shards that others can take: its version cannot be compared with theirs, "
						+ "so it counts as the oldest. Set 'shardkeeper.version' on all instances or on none");
		}
		this.versionLogged = passedOver;
	}

	/**
	 * Publishes what a leader has found, and what the store refuses it.
	 * @param found {@code null} if it has not decided anything since its election
	 */
	public void publish(MemberId leader, long epoch, @Nullable List<GroupProblem> found, @Nullable String directives,
			Optional<String> refused) {
		if (found == null && refused.isEmpty()) {
			return;
		}
		List<GroupProblem> problems = new ArrayList<>((found != null) ? found : List.of());
		if (found != null && directives != null) {
			problems.add(new GroupProblem(false, "directives", directives, ""));
		}
		refused.ifPresent((text) -> problems.add(new GroupProblem(true, "store",
				"Shards that have an owner are consumed, but cannot move: the store refuses the leader's commands: "
						+ text,
				"")));
		publish(leader, epoch, problems);
	}

	void publish(MemberId leader, long epoch, List<GroupProblem> found) {
		GroupProblems problems = GroupProblems.of(found);
		boolean paused = this.publishedAt != null && this.publishedAt.until(this.clock.now()).compareTo(this.pause) < 0;
		if (this.told.epoch() == epoch && (this.told.problems().equals(problems) || paused)) {
			return;
		}
		if (this.store.publishProblems(leader, epoch, problems)) {
			this.publishedAt = this.clock.now();
			this.told = new GroupStatus(epoch, problems);
		}
	}

	public void sessionLost() {
		this.watch.sessionLost();
		this.known = List.of();
		this.told = GroupStatus.NONE;
		this.publishedAt = null;
	}

	/** Returns the problems of the group by the last reply. */
	public List<GroupProblem> known() {
		return this.known;
	}

}
