package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.MemberId;

/**
 * Assignment for a request that the strategy has not answered, because it fails or
 * because the group has changed in the meantime. No shard moves but those that the last
 * assignment moves. A shard without a staying owner is placed as {@link StickyAssignment}
 * places it: an owner that the strategy did not choose is better than none.
 */
public final class FallbackAssignment {

	private FallbackAssignment() {
	}

	/**
	 * Computes the fallback.
	 * @param request the members and shards
	 * @param earlier the last assignment of the strategy, for another request of the same
	 * group; {@code null} if there is none yet
	 * @return the assignment until the strategy answers
	 */
	public static Assignment of(AssignmentRequest request, @Nullable Assignment earlier) {
		Objects.requireNonNull(request, "request must not be null");
		int[] owners = new int[request.shards().size()];
		byte[] reasons = new byte[owners.length];
		Arrays.fill(reasons, (byte) Reason.LAST.ordinal());
		int[] planned = (earlier != null) ? planned(request, earlier) : new int[0];
		Assignment sticky = null;
		for (int shard = 0; shard < owners.length; shard++) {
			int owner = (planned.length != 0) ? planned[shard] : AssignmentRequest.NOBODY;
			if (consumes(request, owner, shard)) {
				owners[shard] = owner;
			}
			else if (consumes(request, request.owner(shard), shard)) {
				owners[shard] = request.owner(shard);
			}
			else {
				sticky = (sticky != null) ? sticky : new StickyAssignment().assign(request);
				owners[shard] = sticky.owner(shard);
				reasons[shard] = (byte) sticky.reason(shard).ordinal();
			}
		}
		return Assignment.unchecked(request, owners, reasons);
	}

	/** Returns the owner by shard in the earlier assignment. */
	private static int[] planned(AssignmentRequest request, Assignment earlier) {
		Map<MemberId, Integer> places = new HashMap<>();
		request.members().forEach((member) -> places.put(member.id(), places.size()));
		int[] placeOf = earlier.request()
			.members()
			.stream()
			.mapToInt((member) -> places.getOrDefault(member.id(), AssignmentRequest.NOBODY))
			.toArray();
		Shards before = earlier.request().shards();
		int[] planned = new int[request.shards().size()];
		for (int shard = 0; shard < planned.length; shard++) {
			int number = (before == request.shards()) ? shard : before.indexOf(request.shards().get(shard));
			int owner = (number >= 0) ? earlier.owner(number) : AssignmentRequest.NOBODY;
			planned[shard] = (owner != AssignmentRequest.NOBODY) ? placeOf[owner] : AssignmentRequest.NOBODY;
		}
		return planned;
	}

	private static boolean consumes(AssignmentRequest request, int member, int shard) {
		return member != AssignmentRequest.NOBODY && request.consumes(member, shard);
	}

}
