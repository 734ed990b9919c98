package io.github.shardkeeper.benchmarks.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A group before a plan: its members and the owners of its shards. The shards belong to
 * ten topics of equal size, which all members consume; an existing group owns them as the
 * contender itself has assigned them. Immutable by convention: the array is not copied.
 *
 * @param members the members that are there, by number
 * @param shards the number of shards
 * @param owners by shard its owner's number; -1 for none. One that has gone is not among
 * the members
 * @param fewestMoves how many shards have to move from one member that is there to
 * another one, if all are to hold equally many
 */
record Scenario(List<Integer> members, int shards, int[] owners, int fewestMoves) {

	static final int TOPICS = 10;

	/** Members and shards, of which each topic has equally many. */
	static final Pattern SIZE = Pattern.compile("[1-9]\\d{0,4}x[1-9]\\d{0,7}0");

	/** No shard has an owner yet. */
	static final String FRESH = "from nothing";

	/** One of the members has died. */
	static final String LEFT = "one left";

	/** There is one more. */
	static final String JOINED = "one joined";

	/**
	 * Brings a group to the point where it has to be planned.
	 * @param size members and shards, as in {@code 10x1000}
	 * @param event the event
	 * @param contender the planner of this plan and the earlier one
	 */
	static Scenario of(String size, String event, String contender) {
		String[] numbers = size.split("x");
		int members = Integer.parseInt(numbers[0]);
		Scenario fresh = fresh(members, Integer.parseInt(numbers[1]));
		if (event.equals(FRESH)) {
			return fresh;
		}
		Contender planner = Contender.of(contender, fresh);
		int[] owners = planner.owners(planner.plan());
		List<Integer> there = new ArrayList<>(fresh.members);
		if (event.equals(LEFT)) {
			there.remove(Integer.valueOf(members / 2));
			return new Scenario(List.copyOf(there), fresh.shards, owners, 0);
		}
		there.add(members);
		return new Scenario(List.copyOf(there), fresh.shards, owners, fresh.shards / (members + 1));
	}

	private static Scenario fresh(int members, int shards) {
		List<Integer> there = new ArrayList<>();
		for (int member = 0; member < members; member++) {
			there.add(member);
		}
		int[] owners = new int[shards];
		Arrays.fill(owners, -1);
		return new Scenario(List.copyOf(there), shards, owners, 0);
	}

	String topic(int shard) {
		return "topic-" + shard % TOPICS;
	}

	int partition(int shard) {
		return shard / TOPICS;
	}

	int shard(String topic, int partition) {
		return partition * TOPICS + topic.charAt(topic.length() - 1) - '0';
	}

	int partitions() {
		return this.shards / TOPICS;
	}

	List<String> topics() {
		List<String> topics = new ArrayList<>();
		for (int topic = 0; topic < TOPICS; topic++) {
			topics.add("topic-" + topic);
		}
		return topics;
	}

	/** In the order of the numbers, so that all contenders sort alike. */
	static String name(int member) {
		return "member-%05d".formatted(member);
	}

	static int member(String name) {
		return Integer.parseInt(name.substring("member-".length(), "member-".length() + 5));
	}

	/**
	 * Counts the moves of a plan, and checks that it is one.
	 * @param planned by shard the number of its new owner
	 */
	int moves(int[] planned) {
		Set<Integer> there = Set.copyOf(this.members);
		int moves = 0;
		for (int shard = 0; shard < this.shards; shard++) {
			if (!there.contains(planned[shard])) {
				throw new IllegalStateException(topic(shard) + "/" + partition(shard) + " has no owner");
			}
			if (planned[shard] != this.owners[shard] && this.owners[shard] >= 0 && there.contains(this.owners[shard])) {
				moves++;
			}
		}
		return moves;
	}

}
