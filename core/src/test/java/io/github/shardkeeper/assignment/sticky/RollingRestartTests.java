package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Deployments, instance by instance, with a plan after each step: number of moves per
 * shard, and loads in between. Prints the numbers.
 */
@Promise("Least movement")
class RollingRestartTests {

	private static final List<Integer> SHARDS = List.of(1, 4, 7, 20, 33, 64);

	private static final int SEEDS = 2;

	private static final String NEWER = "1.10";

	private static final String SAME = "1.9";

	private static final String OLDER = "1.8";

	/** The new instance joins before the old one leaves. */
	@Test
	void joinFirstMovesAShardAtMostTwiceAndMostlyOnce() {
		Counts counts = deployAll(Order.JOIN_LEAVE, 1, NEWER);

		assertThat(counts.moves).containsOnlyKeys(1, 2);
		assertThat(counts.percentage(1)).isGreaterThan(75);
		assertThat(counts.average()).isLessThan(deployAll(Order.JOIN_LEAVE, 1, SAME).average() - 0.3);
	}

	/** The old instance leaves, and only then the new one joins. */
	@Test
	void leaveFirstMovesFewShardsAThirdTime() {
		Counts counts = deployAll(Order.LEAVE_JOIN, 1, NEWER);

		assertThat(counts.moves).containsOnlyKeys(1, 2, 3);
		assertThat(counts.percentage(3)).isLessThan(1);
		assertThat(counts.average()).isLessThan(deployAll(Order.LEAVE_JOIN, 1, SAME).average() - 0.3);
	}

	/** Both are planned together. */
	@Test
	void replacementMovesAShardOnce() {
		assertThat(deployAll(Order.TOGETHER, 1, NEWER).moves).containsOnlyKeys(1);
		assertThat(deployAll(Order.TOGETHER, 3, NEWER).moves).containsOnlyKeys(1);
	}

	/** Each of the topics is spread as well; that costs some moves. */
	@Test
	void severalTopicsMoveOnlyAFewMoreShardsAThirdTime() {
		Counts joinFirst = deployAll(Order.JOIN_LEAVE, 3, NEWER);
		assertThat(joinFirst.percentage(1) + joinFirst.percentage(2)).isGreaterThan(99);
		assertThat(joinFirst.percentage(1)).isGreaterThan(70);

		Counts leaveFirst = deployAll(Order.LEAVE_JOIN, 3, NEWER);
		assertThat(leaveFirst.percentage(1) + leaveFirst.percentage(2)).isGreaterThan(96);
	}

	/** Newer members get at most twice an even share. */
	@Test
	void rollbackToAnOlderVersionCompletes() {
		assertThat(deployAll(Order.JOIN_LEAVE, 1, OLDER).average()).isLessThan(3);
		assertThat(deployAll(Order.LEAVE_JOIN, 1, OLDER).average()).isLessThan(3);
	}

	private static Counts deployAll(Order order, int topics, String version) {
		Counts all = new Counts();
		for (int members = 2; members <= 8; members++) {
			Counts counts = new Counts();
			for (int shards : SHARDS) {
				for (int seed = 0; seed < SEEDS; seed++) {
					new Deployment(members, shards, topics, new Random(seed)).run(order, version, counts);
				}
			}
			System.out.printf("1.9 -> %s, %s, topics: %d, members: %d: %s%n", version, order, topics, members, counts);
			counts.moves.forEach((moves, number) -> all.moves.merge(moves, number, Integer::sum));
		}
		System.out.printf("1.9 -> %s, %s, topics: %d, all: %s%n", version, order, topics, all);
		return all;
	}

	private enum Order {

		JOIN_LEAVE, LEAVE_JOIN, TOGETHER

	}

	/** A group of members of one version, which another replaces. */
	private static final class Deployment {

		private final SortedMap<MemberId, Assignee> members = new TreeMap<>();

		private final List<MemberId> old = new ArrayList<>();

		private final TreeSet<ShardId> shards = new TreeSet<>();

		private final Map<ShardId, Tenure> current = new HashMap<>();

		private final Map<ShardId, Integer> moves = new HashMap<>();

		private final Random random;

		private long generation;

		Deployment(int members, int shards, int topics, Random random) {
			this.random = random;
			for (int number = 0; number < shards; number++) {
				this.shards.add(ShardId.of("t" + number % topics, number));
			}
			for (int i = 0; i < members; i++) {
				this.old.add(join("1.9"));
			}
			plan();
			this.moves.clear();
		}

		void run(Order order, String version, Counts counts) {
			for (MemberId leaving : this.old) {
				if (order == Order.JOIN_LEAVE) {
					join(version);
					plan();
				}
				this.members.remove(leaving);
				if (order == Order.LEAVE_JOIN) {
					plan();
				}
				if (order != Order.JOIN_LEAVE) {
					join(version);
				}
				plan();
			}
			this.shards.forEach((shard) -> counts.moves.merge(this.moves.getOrDefault(shard, 0), 1, Integer::sum));
		}

		/** Its id has its place among the others by chance. */
		private MemberId join(String version) {
			MemberId id = MemberId.of("m", Long.toString(this.random.nextLong(Long.MAX_VALUE), 36));
			this.members.put(id, new Assignee(id, Set.of("t0", "t1", "t2"), new ApplicationVersion(version)));
			return id;
		}

		private void plan() {
			Map<ShardId, MemberId> owners = assign();
			List<ShardId> moved = new ArrayList<>(this.shards);
			moved.removeIf((shard) -> this.current.containsKey(shard)
					&& this.current.get(shard).owner().equals(owners.get(shard)));
			// The first release is the first change.
			Collections.shuffle(moved, this.random);
			for (ShardId shard : moved) {
				this.current.put(shard, new Tenure(owners.get(shard), ++this.generation));
				this.moves.merge(shard, 1, Integer::sum);
			}
			assertThat(assign()).as("a second plan").isEqualTo(owners);
			// Of one member fewer: the last one to join or leave may be an older one.
			double evenShare = Math.ceil(this.shards.size() / Math.max(1.0, this.members.size() - 1));
			Map<MemberId, Integer> loads = new HashMap<>();
			owners.values().forEach((owner) -> loads.merge(owner, 1, Integer::sum));
			assertThat(loads.values()).as("loads").allMatch((load) -> load <= 2 * evenShare);
		}

		private Map<ShardId, MemberId> assign() {
			AssignmentRequest request = AssignmentRequest.builder(this.members.values(), Shards.of(this.shards))
				.owners(this.current)
				.build();
			return new StickyAssignment().assign(request).toMap();
		}

	}

	/** Number of shards by number of moves. */
	private static final class Counts {

		private final SortedMap<Integer, Integer> moves = new TreeMap<>();

		double percentage(int times) {
			return 100.0 * this.moves.getOrDefault(times, 0) / all();
		}

		double average() {
			return this.moves.entrySet().stream().mapToDouble((entry) -> entry.getKey() * entry.getValue()).sum()
					/ all();
		}

		private double all() {
			return this.moves.values().stream().mapToInt(Integer::intValue).sum();
		}

		@Override
		public String toString() {
			List<String> texts = new ArrayList<>();
			this.moves.keySet().forEach((times) -> texts.add("%d× %.1f %%".formatted(times, percentage(times))));
			return "%s (on average %.2f)".formatted(String.join(", ", texts), average());
		}

	}

}
