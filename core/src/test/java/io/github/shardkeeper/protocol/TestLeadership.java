package io.github.shardkeeper.protocol;

import java.util.ArrayDeque;
import java.util.Queue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * A {@link Leadership} that receives events one by one, and whose actions are taken one
 * by one.
 */
final class TestLeadership {

	private final Leadership machine;

	private final Queue<LeaderAction> actions = new ArrayDeque<>();

	private @Nullable MonotonicTime wakeAt;

	TestLeadership(Leadership machine) {
		this.machine = machine;
	}

	void on(LeaderEvent event, MonotonicTime now) {
		Step<LeaderAction> step = this.machine.handle(event, now);
		this.actions.addAll(step.actions());
		this.wakeAt = step.wakeAt();
	}

	/** Returns the next action that is due, {@code null} for none. */
	@Nullable LeaderAction next(MonotonicTime now) {
		if (this.actions.isEmpty()) {
			on(new LeaderEvent.TimePassed(), now);
		}
		return this.actions.poll();
	}

	@Nullable MonotonicTime wakeAt() {
		return this.wakeAt;
	}

	Leadership.View view() {
		return this.machine.view();
	}

}
