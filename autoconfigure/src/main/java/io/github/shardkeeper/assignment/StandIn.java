package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;

/**
 * Makes an assignment for a request that its strategy has not answered: because it fails,
 * or because the group has changed while it was thinking. Nothing moves but what an
 * earlier assignment wanted to move anyway. A shard without an owner that stays is placed
 * as {@link StickyAssignment} would place it: somebody who was not chosen is better than
 * nobody.
 */
public final class StandIn {

	private StandIn() {
	}

	/**
	 * Makes the assignment.
	 * @param request what it is for
	 * @param earlier what the strategy answered last, to another request of the same
	 * group; {@code null} when it has answered nothing yet
	 * @return who shall own which shard meanwhile
	 */
	public static Assignment of(AssignmentRequest request, @Nullable Assignment earlier) {
		Objects.requireNonNull(request, "request must not be null");
		int[] owners = new int[request.shards().size()];
		byte[] reasons = new byte[owners.length];
		Arrays.fill(reasons, (byte) Reason.LAST.ordinal());
		int[] wishes = (earlier != null) ? wishes(request, earlier) : new int[0];
		Assignment placing = null;
		for (int shard = 0; shard < owners.length; shard++) {
			int wish = (wishes.length != 0) ? wishes[shard] : AssignmentRequest.NOBODY;
			if (consumes(request, wish, shard)) {
				owners[shard] = wish;
			}
			else if (consumes(request, request.owner(shard), shard)) {
				owners[shard] = request.owner(shard);
			}
			else {
				placing = (placing != null) ? placing : new StickyAssignment().assign(request);
				owners[shard] = placing.owner(shard);
				reasons[shard] = (byte) placing.reason(shard).ordinal();
			}
		}
		return new Assignment(request, owners, reasons, Map.of());
	}

	/** By shard of the request the member that the earlier assignment gave it to. */
	private static int[] wishes(AssignmentRequest request, Assignment earlier) {
		Map<MemberId, Integer> places = request.places();
		int[] placeOf = earlier.request()
			.members()
			.stream()
			.mapToInt((member) -> places.getOrDefault(member.id(), AssignmentRequest.NOBODY))
			.toArray();
		Shards before = earlier.request().shards();
		int[] wishes = new int[request.shards().size()];
		for (int shard = 0; shard < wishes.length; shard++) {
			int number = (before == request.shards()) ? shard : before.indexOf(request.shards().get(shard));
			int wish = (number >= 0) ? earlier.owner(number) : AssignmentRequest.NOBODY;
			wishes[shard] = (wish != AssignmentRequest.NOBODY) ? placeOf[wish] : AssignmentRequest.NOBODY;
		}
		return wishes;
	}

	private static boolean consumes(AssignmentRequest request, int member, int shard) {
		return member != AssignmentRequest.NOBODY && request.consumes(member, shard);
	}

}
