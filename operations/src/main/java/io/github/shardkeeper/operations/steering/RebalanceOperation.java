package io.github.shardkeeper.operations.steering;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;

/**
 * Has the leader read the group again and plan at once, without waiting. Thread-safe.
 */
public final class RebalanceOperation extends SteeringOperation {

	public RebalanceOperation(OperatorCommands group) {
		super("rebalance", Set.of(Level.GROUP), List.of(), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		Directive wanted = request.directive(Kind.REBALANCE, "", null);
		int moves = now.expectedMoves(now.directives().with(wanted)).size();
		return put(wanted, request,
				List.of("the leader plans at once, and gives up cool-downs",
						(moves == 0) ? "no shard is expected to move: the group is balanced"
								: "%d shards are expected to move".formatted(moves)));
	}

}
