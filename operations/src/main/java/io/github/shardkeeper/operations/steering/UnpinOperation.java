package io.github.shardkeeper.operations.steering;

import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.shard.ShardId;

/** Lets a shard be assigned by the usual rules again. Thread-safe. */
public final class UnpinOperation extends SteeringOperation {

	public UnpinOperation(OperatorCommands group) {
		super("unpin", Set.of(Level.SHARD), List.of(), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		ShardId shard = request.requiredShard();
		if (now.directives().pinOf(shard) == null) {
			now.require(shard);
			return List.of("%s is already without a pin of an operator".formatted(shard));
		}
		boolean moves = now.expectedMoves(now.directives().without(Kind.PIN, shard.toString()))
			.stream()
			.anyMatch((move) -> move.shard().equals(shard));
		return clear(Kind.PIN, shard.toString(), request, List.of("%s is assigned by the usual rules again, and %s"
			.formatted(shard, moves ? "is expected to move" : "stays where it is for now")));
	}

}
