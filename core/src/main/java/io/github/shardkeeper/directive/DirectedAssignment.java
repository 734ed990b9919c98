package io.github.shardkeeper.directive;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.directive.Directive.Kind;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * An assignment that follows directives, also if its strategy ignores pins, and says who
 * asked for what. Immutable.
 *
 * @param assignment the assignment
 * @param asked by shard the directive because of which it has its new owner
 */
public record DirectedAssignment(Assignment assignment, Map<ShardId, Directive> asked) {

	/**
	 * Applies directives to an assignment.
	 * @param assignment the reply to a request with the {@linkplain #pins pins} of the
	 * directives
	 * @param owners by number of the shard the member that holds it now
	 */
	public static DirectedAssignment of(Assignment assignment, Directives directives,
			IntFunction<@Nullable MemberId> owners) {
		AssignmentRequest request = assignment.request();
		Map<Integer, Integer> placed = new HashMap<>();
		Map<Integer, String> words = new HashMap<>();
		Map<ShardId, Directive> asked = new HashMap<>();
		if (!directives.drained().isEmpty()) {
			for (int shard = 0; shard < request.shards().size(); shard++) {
				MemberId owner = owners.apply(shard);
				Directive drain = (owner != null) ? directives.find(Kind.DRAIN, owner.instance()) : null;
				if (drain != null && assignment.owner(shard) != AssignmentRequest.NOBODY
						&& !request.members().get(assignment.owner(shard)).id().equals(owner)) {
					words.put(shard, "%s is drained %s".formatted(owner.instance(), drain.byWhom()));
					asked.put(request.shards().get(shard), drain);
				}
			}
		}
		Map<ShardId, Directive> placements = directives.placements();
		int[] pinned = placements.isEmpty() ? new int[0] : request.pinnedOwners();
		placements.forEach((shard, directive) -> {
			int number = request.shards().indexOf(shard);
			if (number >= 0 && pinned[number] != AssignmentRequest.NOBODY) {
				placed.put(number, pinned[number]);
				words.put(number, "%s to this instance %s"
					.formatted((directive.kind() == Kind.PIN) ? "pinned" : "moved", directive.byWhom()));
				asked.put(shard, directive);
			}
		});
		return new DirectedAssignment(assignment.with(placed, words), Map.copyOf(asked));
	}

	/** Returns by number of the shard the instance that it goes to. */
	public static Map<Integer, String> pins(Directives directives, Shards shards) {
		Map<Integer, String> pins = new HashMap<>();
		directives.placements().forEach((shard, directive) -> {
			int number = shards.indexOf(shard);
			String to = directive.to();
			if (number >= 0 && to != null) {
				pins.put(number, to);
			}
		});
		return pins;
	}

}
