package io.github.shardkeeper.operations.steering;

import java.util.Set;

import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.directive.DirectiveStore;

/**
 * The group as a {@link SteeringOperation} needs it: what it is like, and its directives.
 * Thread-safe.
 */
public final class OperatorCommands {

	private final ShardCoordinator coordinator;

	private final CoordinationStore store;

	private final Set<String> broadcastTopics;

	/**
	 * Creates it.
	 * @param broadcastTopics the topics that every instance consumes alone
	 */
	public OperatorCommands(ShardCoordinator coordinator, CoordinationStore store, Set<String> broadcastTopics) {
		this.coordinator = coordinator;
		this.store = store;
		this.broadcastTopics = Set.copyOf(broadcastTopics);
	}

	boolean isBroadcast(String topic) {
		return this.broadcastTopics.contains(topic);
	}

	GroupSituation read() {
		return new GroupSituation(this.coordinator, this.store.readChanges(0, -1), directives().read());
	}

	DirectiveStore directives() {
		return this.store.directives();
	}

}
