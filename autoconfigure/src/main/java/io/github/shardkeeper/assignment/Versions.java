package io.github.shardkeeper.assignment;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * Tells how old the versions are that members run.
 */
final class Versions {

	private Versions() {
	}

	/** Whether some member's version is older than another's. */
	static boolean areMixed(AssignmentRequest request) {
		List<Assignee> members = request.members();
		for (Assignee member : members) {
			if (member.version().compareTo(members.get(0).version()) != 0) {
				return true;
			}
		}
		return false;
	}

	/** By member, how many different ages of versions there are below its own. */
	static int[] ranks(AssignmentRequest request) {
		List<ApplicationVersion> oldestFirst = request.members()
			.stream()
			.map(Assignee::version)
			.distinct()
			.sorted()
			.toList();
		Map<ApplicationVersion, Integer> ranks = new HashMap<>();
		int rank = 0;
		for (int i = 0; i < oldestFirst.size(); i++) {
			if (i > 0 && oldestFirst.get(i - 1).compareTo(oldestFirst.get(i)) != 0) {
				rank++;
			}
			ranks.put(oldestFirst.get(i), rank);
		}
		return request.members().stream().mapToInt((member) -> ranks.get(member.version())).toArray();
	}

}
