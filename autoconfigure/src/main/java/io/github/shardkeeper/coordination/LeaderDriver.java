package io.github.shardkeeper.coordination;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.LeaderAction;
import io.github.shardkeeper.handover.Leadership;
import io.github.shardkeeper.handover.PlanReply;
import io.github.shardkeeper.handover.ReapReply;
import io.github.shardkeeper.shard.MemberId;

/**
 * Carries out what {@link Leadership} decides. Confined to the coordinator's loop.
 */
final class LeaderDriver {

	private static final Logger logger = LoggerFactory.getLogger(LeaderDriver.class);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	private static final Duration FAILURE_RETRY_PAUSE = Duration.ofSeconds(5);

	private final Leadership leadership;

	private final CoordinationStore store;

	private final MonotonicClock clock;

	LeaderDriver(Leadership leadership, CoordinationStore store, MonotonicClock clock) {
		this.leadership = leadership;
		this.store = store;
		this.clock = clock;
	}

	/** Does all that is due. */
	void run(MemberId self) {
		try {
			LeaderAction action = this.leadership.next(this.clock.now());
			while (action != null) {
				perform(action, self);
				action = this.leadership.next(this.clock.now());
			}
		}
		catch (StoreUnavailableException ex) {
			this.leadership.failed(this.clock.now(), STORE_RETRY_PAUSE);
			throw ex;
		}
		catch (RuntimeException ex) {
			// Most likely the application's own AssignmentStrategy. This member's shards
			// must
			// not suffer from it.
			logger.error("Cannot plan; all shards stay where they are. Trying again in {} s",
					FAILURE_RETRY_PAUSE.toSeconds(), ex);
			this.leadership.failed(this.clock.now(), FAILURE_RETRY_PAUSE);
		}
	}

	private void perform(LeaderAction action, MemberId self) {
		if (action instanceof LeaderAction.Refresh refresh) {
			this.leadership.refreshed(this.store.changes(refresh.generation(), refresh.membership()), this.clock.now());
		}
		else if (action instanceof LeaderAction.LookForDead look) {
			looked(this.store.reap(self, look.epoch(), look.steadySinceMillis()));
		}
		else if (action instanceof LeaderAction.ApplyPlan plan) {
			planned(plan, this.store.plan(self, plan.epoch(), plan.transitions()));
		}
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
