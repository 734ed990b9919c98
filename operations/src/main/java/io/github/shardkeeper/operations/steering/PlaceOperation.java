package io.github.shardkeeper.operations.steering;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRequest;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Moves a shard to an instance: once ({@code move}), or for as long as that is a member
 * ({@code pin}). Thread-safe.
 */
public final class PlaceOperation extends SteeringOperation {

	private final Kind kind;

	private PlaceOperation(String name, Kind kind, OperatorCommands group) {
		super(name, Set.of(Level.SHARD), List.of("to"), group);
		this.kind = kind;
	}

	public static PlaceOperation move(OperatorCommands group) {
		return new PlaceOperation("move", Kind.MOVE, group);
	}

	public static PlaceOperation pin(OperatorCommands group) {
		return new PlaceOperation("pin", Kind.PIN, group);
	}

	@Override
	public String instanceField() {
		return "to";
	}

	@Override
	List<String> perform(OperationRequest request, GroupSituation now) {
		ShardId shard = request.requiredShard();
		String instance = request.instance("to");
		Ownership ownership = now.require(shard);
		now.requireMember(instance);
		requirePossible(ownership, instance, now);
		MemberId destination = ownership.destination();
		boolean isThere = destination != null && destination.instance().equals(instance);
		String already = already(shard, instance, isThere, now.directives().pinOf(shard));
		if (already != null) {
			return List.of(already);
		}
		Directive wanted = request.directive(this.kind, shard.toString(), instance);
		List<String> effects = new ArrayList<>();
		effects.add(isThere ? "%s stays with %s".formatted(shard, instance) : "%s moves %sto %s".formatted(shard,
				(destination != null) ? "from " + destination + " " : "", instance));
		long others = now.expectedMoves(now.directives().with(wanted))
			.stream()
			.filter((move) -> !move.shard().equals(shard))
			.count();
		if (others > 0) {
			effects.add("%d other %s expected to move, to restore the balance".formatted(others,
					(others == 1) ? "shard is" : "shards are"));
		}
		effects.add((this.kind == Kind.PIN)
				? "it stays there while %s is a member, and is assigned by the usual rules otherwise"
					.formatted(instance)
				: "from then on the usual rules apply: pin it if it has to stay");
		return put(wanted, request, effects);
	}

	private static void requirePossible(Ownership ownership, String instance, GroupSituation now) {
		ShardId shard = ownership.shard();
		if (ownership.phase() == Phase.COMPLETED) {
			throw OperationRefusedException.conflict("%s is completed: nobody owns it again".formatted(shard));
		}
		if (!now.consumes(instance, shard.topic())) {
			throw OperationRefusedException
				.conflict("%s does not consume the topic '%s'".formatted(instance, shard.topic()));
		}
		Directive drained = now.directives().find(Kind.DRAIN, instance);
		if (drained != null) {
			throw OperationRefusedException
				.conflict("%s is drained %s; undrain it first".formatted(instance, drained.byWhom()));
		}
	}

	/** Returns why there is nothing to do; {@code null} if there is. */
	private @Nullable String already(ShardId shard, String instance, boolean isThere, @Nullable Directive pin) {
		boolean pinnedThere = pin != null && instance.equals(pin.to());
		if (this.kind == Kind.PIN) {
			return (pin != null && pinnedThere)
					? "%s is already pinned to %s %s".formatted(shard, instance, pin.byWhom()) : null;
		}
		if (pin != null && !pinnedThere) {
			throw OperationRefusedException.conflict("%s is pinned to %s %s; unpin it, or pin it to %s".formatted(shard,
					pin.to(), pin.byWhom(), instance));
		}
		return isThere ? "%s is already with %s, or on its way there".formatted(shard, instance) : null;
	}

}
