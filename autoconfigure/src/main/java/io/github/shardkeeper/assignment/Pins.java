package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The pins that hold now: the instance is there and consumes the shard's topic. A pin
 * that does not hold leaves its shard to the strategy, so that no shard is without owner
 * because of a pin. Immutable.
 */
final class Pins {

	private final AssignmentRequest request;

	private final Map<String, List<Integer>> places = new HashMap<>();

	private Pins(AssignmentRequest request) {
		this.request = request;
		for (int member = 0; member < request.members().size(); member++) {
			this.places.computeIfAbsent(request.members().get(member).id().instance(), (i) -> new ArrayList<>(1))
				.add(member);
		}
	}

	/**
	 * Finds the pins that hold.
	 * @param request the members and shards
	 * @return by shard the place of the member it is pinned to,
	 * {@link AssignmentRequest#NOBODY} where no pin holds
	 */
	static int[] of(AssignmentRequest request) {
		int[] pinned = new int[request.shards().size()];
		Arrays.fill(pinned, AssignmentRequest.NOBODY);
		if (!request.hasPlainShards()) {
			Pins pins = new Pins(request);
			for (int shard = 0; shard < pinned.length; shard++) {
				pinned[shard] = pins.member(shard);
			}
		}
		return pinned;
	}

	private int member(int shard) {
		String instance = this.request.traits(shard).pinnedTo();
		if (instance == null) {
			return AssignmentRequest.NOBODY;
		}
		String topic = this.request.shards().get(shard).topic();
		int first = AssignmentRequest.NOBODY;
		for (int member : this.places.getOrDefault(instance, List.of())) {
			if (this.request.members().get(member).topics().contains(topic)) {
				// An instance has two sessions while the end of one was not noticed: what
				// is at one of them stays there.
				if (member == this.request.owner(shard)) {
					return member;
				}
				first = (first != AssignmentRequest.NOBODY) ? first : member;
			}
		}
		return first;
	}

}
