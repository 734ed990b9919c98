package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.benchmarks.moves.group.Group;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

/**
 * One turn of a scenario with a few shards. Tests of several classes run at a time, which
 * is why not all of the scenarios' tests are in one.
 */
final class ShortTurn {

	static final int SHARDS = 4;

	/** The number of raw results, if a later turn fails. */
	final List<Integer> kept = new ArrayList<>();

	GroupResults run(List<GroupProtocol> all, String name, Events events) throws Exception {
		GroupProtocol protocol = all.stream().filter((each) -> each.text().equals(name)).findFirst().orElseThrow();
		GroupResults results = Turns
			.run(List.of(protocol), SHARDS, 1, (turn, group, seen) -> events.happen(group, seen),
					(seen) -> this.kept.add(GroupResults.raw(seen).size()))
			.get(0);
		results.verify();
		return results;
	}

	/** What happens to a group. */
	interface Events {

		void happen(Group group, GroupResults results) throws Exception;

	}

}
