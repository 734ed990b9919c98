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
 * Assignment for a request that the strategy has not answered. Only shards that its last
 * assignment moves do move. A shard without a staying owner is placed as by
 * {@link StickyAssignment}: any owner is better than none.
 */
public final class FallbackAssignment {

	private FallbackAssignment() {
	}

	/** Returns the fallback; {@code earlier} answered another request of the group. */
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
