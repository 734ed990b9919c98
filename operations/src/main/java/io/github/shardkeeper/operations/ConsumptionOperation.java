package io.github.shardkeeper.operations;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.operations.request.RequestedShards;

/**
 * Has this instance leave the group, or join it again, while its application runs.
 * Thread-safe.
 */
final class ConsumptionOperation extends Operation {

	private final Action action;

	private final CoordinationSettings settings;

	private final GroupReporter reporter;

	/**
	 * Creates an operation.
	 * @param reporter has the instances of the group
	 */
	ConsumptionOperation(String name, Action action, CoordinationSettings settings, GroupReporter reporter) {
		super(name, Set.of(Level.GROUP), List.of("instance"));
		this.action = action;
		this.settings = settings;
		this.reporter = reporter;
	}

	@Override
	public List<String> perform(OperationRequest request) {
		requireThisInstance(request.instance("instance"));
		return List.of(this.action.perform(request.dryRun()));
	}

	private void requireThisInstance(String instance) {
		if (instance.equals(this.settings.instance())) {
			return;
		}
		Collection<String> known = this.reporter.picture()
			.members()
			.stream()
			.map((member) -> member.id().instance())
			.collect(Collectors.toCollection(TreeSet::new));
		if (!known.contains(instance)) {
			throw OperationRefusedException.unknown("The group has no instance '%s'; its instances are %s"
				.formatted(instance, RequestedShards.named(known)));
		}
		throw OperationRefusedException.conflict(
				"This is instance '%s', and '%s' has to be asked itself: send the request to its own address, or use 'drain', which every instance accepts"
					.formatted(this.settings.instance(), instance));
	}

	/** What is done to the {@link ConsumptionSwitch}. */
	@FunctionalInterface
	interface Action {

		String perform(boolean dryRun);

	}

}
