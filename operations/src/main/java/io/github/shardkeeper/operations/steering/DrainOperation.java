package io.github.shardkeeper.operations.steering;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRequest;

/** Moves all shards away from an instance, which stays a member. Thread-safe. */
public final class DrainOperation extends SteeringOperation {

	public DrainOperation(OperatorCommands group) {
		super("drain", Set.of(Level.GROUP), List.of("instance"), group);
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		String instance = request.instance("instance");
		now.requireMember(instance);
		Directive before = now.directives().find(Kind.DRAIN, instance);
		if (before != null) {
			return List.of("%s is already drained %s".formatted(instance, before.byWhom()));
		}
		Directive wanted = request.directive(Kind.DRAIN, instance, null);
		long owned = now.ownedBy(instance);
		long moving = now.expectedMoves(now.directives().with(wanted))
			.stream()
			.filter((move) -> move.from() != null && move.from().instance().equals(instance))
			.count();
		List<String> effects = new ArrayList<>();
		effects.add("%s stays a member and gets no shards until it is undrained".formatted(instance));
		effects.add((owned == 0) ? "it owns no shards"
				: "%d of its %d shards move to other instances".formatted(moving, owned));
		if (moving < owned) {
			effects.add("%d shards stay, because no other instance can take them".formatted(owned - moving));
		}
		return put(wanted, request, effects);
	}

}
