package io.github.shardkeeper.protocol.leader;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A {@link Leadership} that receives events one by one, and whose actions are taken one
 * by one, without the moves.
 */
final class TestLeadership {

	private final Leadership machine;

	private final Queue<LeaderAction> actions = new ArrayDeque<>();

	private final List<ShardMove> moves = new ArrayList<>();

	private @Nullable MonotonicTime wakeAt;

	TestLeadership(Leadership machine) {
		this.machine = machine;
	}

	void on(LeaderEvent event, MonotonicTime now) {
		Step<LeaderAction> step = this.machine.handle(event, now);
		for (LeaderAction action : step.actions()) {
			if (action instanceof LeaderAction.RecordMoves found) {
				this.moves.addAll(found.moves());
			}
			else {
				this.actions.add(action);
			}
		}
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

	/** Returns the moves that were found so far. */
	List<ShardMove> moves() {
		return this.moves;
	}

	Leadership.View view() {
		return this.machine.view();
	}

}
