package io.github.shardkeeper.operations.steering;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.directive.DirectiveStore;
import io.github.shardkeeper.directive.DirectiveStore.Change;
import io.github.shardkeeper.directive.DirectiveStore.Outcome;
import io.github.shardkeeper.operations.request.Operation;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;

/**
 * Operation that leader and members follow within a second, as a {@link Directive} that
 * is stored or cleared, on any instance. Concurrent operations do not fight: the later
 * one replaces the earlier one, and says so. What the effects expect of the leader is no
 * promise: the leader's plan decides. Thread-safe.
 */
abstract class SteeringOperation extends Operation {

	private final OperatorCommands group;

	SteeringOperation(String name, Set<Level> levels, List<String> fields, OperatorCommands group) {
		super(name, levels, fields);
		this.group = group;
	}

	@Override
	public final List<String> perform(OperationRequest request) {
		String topic = request.topic();
		if (topic != null && this.group.isBroadcast(topic)) {
			throw OperationRefusedException.conflict(
					"'%s' is a broadcast topic: every instance consumes all its shards for itself, so '%s' is not possible"
						.formatted(topic, name()));
		}
		// They name instances; one that is malformed is refused without asking the store.
		fields().forEach(request::instance);
		return perform(request, this.group.read());
	}

	/** Performs a request on the group as it was read. */
	abstract List<String> perform(OperationRequest request, GroupSituation now);

	/** Stores a directive, unless it is a dry run, and returns the effects. */
	final List<String> put(Directive wanted, OperationRequest request, List<String> expected) {
		if (request.dryRun()) {
			return expected;
		}
		Change change = this.group.directives().put(wanted);
		Directive before = change.before();
		if (change.outcome() == Outcome.FULL) {
			throw OperationRefusedException
				.conflict("The group has %d directives already; clear some first".formatted(DirectiveStore.MOST));
		}
		if (change.outcome() == Outcome.UNCHANGED) {
			return List.of("this was already asked for" + ((before != null) ? " " + before.byWhom() : ""));
		}
		List<String> effects = new ArrayList<>(expected);
		if (before != null) {
			effects.add("this replaces what was asked for %s".formatted(before.byWhom()));
		}
		return effects;
	}

	/** Clears a directive, unless it is a dry run, and returns the effects. */
	final List<String> clear(Kind kind, String subject, OperationRequest request, List<String> expected) {
		boolean done = request.dryRun() || this.group.directives().clear(kind, subject).outcome() == Outcome.CHANGED;
		return done ? expected : List.of("somebody else has already done this");
	}

}
