package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the members that pinned shards go to. Of several members of one instance (an old
 * session of it may not have ended yet) the one that has the shard keeps it; otherwise
 * the last by id takes it.
 */
final class Pins {

	private Pins() {
	}

	/**
	 * Looks the pinned shards' owners up.
	 * @param request the members and shards
	 * @return by shard the place of the member that must have it,
	 * {@link AssignmentRequest#NOBODY} for one that is not pinned, or whose instance is
	 * not there or does not consume its topic
	 */
	static int[] owners(AssignmentRequest request) {
		int[] owners = new int[request.shards().size()];
		Arrays.fill(owners, AssignmentRequest.NOBODY);
		if (request.hasPlainShards()) {
			return owners;
		}
		Map<String, List<Integer>> instances = new HashMap<>();
		for (int shard = 0; shard < owners.length; shard++) {
			String instance = request.traits(shard).pinnedTo();
			if (instance != null) {
				if (instances.isEmpty()) {
					instances = byInstance(request.members());
				}
				owners[shard] = owner(request, shard, instances.getOrDefault(instance, List.of()));
			}
		}
		return owners;
	}

	private static Map<String, List<Integer>> byInstance(List<Assignee> members) {
		Map<String, List<Integer>> instances = new HashMap<>();
		for (int member = 0; member < members.size(); member++) {
			instances.computeIfAbsent(members.get(member).id().instance(), (instance) -> new ArrayList<>()).add(member);
		}
		return instances;
	}

	private static int owner(AssignmentRequest request, int shard, List<Integer> members) {
		int owner = AssignmentRequest.NOBODY;
		for (int member : members) {
			if (request.consumes(member, shard)) {
				if (member == request.owner(shard)) {
					return member;
				}
				owner = member;
			}
		}
		return owner;
	}

}
