package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.LeaderAction;
import io.github.shardkeeper.handover.Leadership;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.ReapReply;
import io.github.shardkeeper.shard.MemberId;

/**
 * Carries out what {@link Leadership} decides. Confined to the coordinator's loop, but
 * for {@link #isFailing}.
 */
final class LeaderDriver {

	private static final Logger logger = LoggerFactory.getLogger(LeaderDriver.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	private static final Duration FAILURE_RETRY_PAUSE = Duration.ofSeconds(5);

	private final Leadership leadership;

	private final Duration crashQuietPeriod;

	private final Supplier<Map<String, Integer>> topics;

	/** Members and topics whose shard counts differ and were reported. */
	private final Set<String> reported = new HashSet<>();

	private final CoordinationStore store;

	private final MonotonicClock clock;

	/** Since when every attempt to decide has failed. */
	private volatile @Nullable MonotonicTime failingSince;

	LeaderDriver(Leadership leadership, Duration crashQuietPeriod, Supplier<Map<String, Integer>> topics,
			CoordinationStore store, MonotonicClock clock) {
		this.crashQuietPeriod = crashQuietPeriod;
		this.topics = topics;
		this.leadership = leadership;
		this.store = store;
		this.clock = clock;
	}

	/** Does all that is due. */
	void run(MemberId self) {
		try {
			LeaderAction action = this.leadership.next(this.clock.now());
			if (action != null) {
				while (action != null) {
					perform(action, self);
					action = this.leadership.next(this.clock.now());
				}
				this.failingSince = null;
			}
			else if (!this.leadership.leads()) {
				this.failingSince = null;
			}
		}
		catch (StoreUnavailableException ex) {
			this.leadership.failed(this.clock.now(), STORE_RETRY_PAUSE);
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			// Most likely the application's own AssignmentStrategy. This member's shards
			// must not suffer from it: whatever it throws, the loop's pass goes on.
			logger.error("Cannot plan; all shards stay where they are. Trying again in {} s",
					FAILURE_RETRY_PAUSE.toSeconds(), ex);
			MonotonicTime now = this.clock.now();
			if (this.failingSince == null) {
				this.failingSince = now;
			}
			this.leadership.failed(now, FAILURE_RETRY_PAUSE);
		}
	}

	/**
	 * Whether this leader has decided nothing for so long, because it fails, that another
	 * one should try. May be called from any thread.
	 */
	boolean isFailing(Duration patience) {
		MonotonicTime since = this.failingSince;
		return since != null && since.until(this.clock.now()).compareTo(patience) >= 0;
	}

	private void perform(LeaderAction action, MemberId self) {
		if (action instanceof LeaderAction.Refresh refresh) {
			GroupChanges changes = this.store.changes(refresh.generation(), refresh.membership());
			this.leadership.refreshed(changes, this.clock.now());
			reportDifferences(changes);
		}
		else if (action instanceof LeaderAction.LookForDead look) {
			looked(this.store.reap(self, look.epoch(), look.steadySinceMillis(), this.crashQuietPeriod));
		}
		else if (action instanceof LeaderAction.ApplyPlan plan) {
			planned(plan, this.store.plan(self, plan.epoch(), plan.transitions()));
		}
	}

	/** The leader's shard counts hold; who was configured with others should know. */
	private void reportDifferences(GroupChanges changes) {
		List<GroupMember> members = changes.members();
		if (members == null) {
			return;
		}
		for (GroupMember member : members) {
			member.description().topicShards().forEach((topic, count) -> {
				Integer own = this.topics.get().get(topic);
				if (own != null && !own.equals(count) && this.reported.add(member.id() + " " + topic)) {
					logger.warn("{} has 'shardkeeper.topics.{}.shards: {}', but this leader has {}, which holds. "
							+ "Give all instances the same number", member.id(), topic, count, own);
				}
			});
		}
		this.reported.removeIf((entry) -> members.stream().noneMatch((member) -> entry.startsWith(member.id() + " ")));
	}

	private void looked(ReapReply reply) {
		if (!(reply instanceof ReapReply.Looked looked)) {
			this.leadership.deposed();
			return;
		}
		looked.dead().forEach((member) -> logger.warn("{} is dead: silent for a lease, nobody subscribed", member));
		looked.timedOut().forEach((member) -> logger.warn("{} was silent for its session timeout", member));
		this.leadership.looked(looked, this.clock.now());
	}

	private void planned(LeaderAction.ApplyPlan plan, PlanReply reply) {
		if (!(reply instanceof PlanReply.Applied applied)) {
			this.leadership.deposed();
			return;
		}
		logger.debug("Applied {} of {} changes: {}", applied.applied(), plan.transitions().size(), plan.transitions());
		this.leadership.planned(applied, this.clock.now());
	}

}
