package io.github.shardkeeper.operations.steering;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;

/** Lets an instance get shards again. Thread-safe. */
public final class UndrainOperation extends SteeringOperation {

	public UndrainOperation(OperatorCommands group) {
		super("undrain", Set.of(Level.GROUP), List.of("instance"), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		String instance = request.instance("instance");
		if (now.directives().find(Kind.DRAIN, instance) == null) {
			now.requireMember(instance);
			return List.of("%s is already without a drain".formatted(instance));
		}
		int moves = now.expectedMoves(now.directives().without(Kind.DRAIN, instance)).size();
		return clear(Kind.DRAIN, instance, request,
				List.of("%s gets shards again".formatted(instance), "%d shards are expected to move".formatted(moves)));
	}

}
