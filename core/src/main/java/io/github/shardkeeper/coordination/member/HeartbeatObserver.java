package io.github.shardkeeper.coordination.member;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Observer of the heartbeats of the current session. {@code CoordinatorLoop} declares all
 * observers in the order in which they are called. One that throws keeps a reply from
 * those behind it. Confined to the coordinator's loop.
 */
public interface HeartbeatObserver {

	/**
	 * Called if the store has lost writes of the group, for all observers before the
	 * first one gets the reply that says so.
	 */
	default void writesLost() {
	}

	/** The store has not answered, or has refused a heartbeat. */
	default void heartbeatFailed(StoreUnavailableException failure, MonotonicTime now) {
	}

	/** Takes in a reply. */
	default void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
	}

}
