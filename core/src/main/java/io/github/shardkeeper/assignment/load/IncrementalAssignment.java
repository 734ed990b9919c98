package io.github.shardkeeper.assignment.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;

/**
 * Assignment to the least loaded member, in small steps. Immutable.
 * <ul>
 * <li>All unowned shards go at once to the member with the lowest load after that.</li>
 * <li>Then shards, latest first, move from the member with the highest load to the one
 * with the lowest, if the taker's load after it is below the giver's load before it.</li>
 * <li>At most {@value #STEP} such moves are under way. While more are to come, the
 * assignment is {@linkplain Assignment#isUnfinished unfinished}.</li>
 * </ul>
 * Each move lowers the higher of two loads, so the steps come to an end: with loads that
 * differ by at most one shard if all members consume all topics. A shard never moves to
 * make room for another one, as it does in the sticky strategy. The load of a member is
 * the weight of its shards, pinned ones too, divided by its capacity. It ignores zones
 * and versions.
 */
public final class IncrementalAssignment implements AssignmentStrategy {

	/** Maximum number of moves under way. */
	public static final int STEP = 10;

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		Steps steps = new Steps(request);
		steps.keepCurrent();
		steps.placeUnowned();
		int moves = request.movesUnderWay();
		while (moves < STEP && steps.move()) {
			moves++;
		}
		return steps.assignment(moves >= STEP && steps.hasMove());
	}

	private static final class Steps {

		private final AssignmentRequest request;

		private final List<Assignee> members;

		private final int[] pinned;

		private final int[] owners;

		private final long[] weights;

		Steps(AssignmentRequest request) {
			this.request = request;
			this.members = request.members();
			this.pinned = request.pinnedOwners();
			this.owners = new int[request.shards().size()];
			Arrays.fill(this.owners, AssignmentRequest.NOBODY);
			this.weights = new long[this.members.size()];
		}

		void keepCurrent() {
			for (int shard = 0; shard < this.owners.length; shard++) {
				int owner = this.request.owner(shard);
				if (this.pinned[shard] != AssignmentRequest.NOBODY) {
					give(shard, this.pinned[shard]);
				}
				else if (owner != AssignmentRequest.NOBODY && this.request.consumes(owner, shard)) {
					give(shard, owner);
				}
			}
		}

		void placeUnowned() {
			Shards shards = this.request.shards();
			for (int topic = 0; topic < shards.topics().size(); topic++) {
				PriorityQueue<Integer> takers = null;
				for (int shard = shards.begin(topic); shard < shards.end(topic); shard++) {
					if (this.owners[shard] != AssignmentRequest.NOBODY) {
						continue;
					}
					takers = (takers != null) ? takers : takers(shard);
					Integer taker = takers.poll();
					if (taker != null) {
						give(shard, taker);
						takers.add(taker);
					}
				}
			}
		}

		private PriorityQueue<Integer> takers(int shard) {
			PriorityQueue<Integer> takers = new PriorityQueue<>(takersFirst());
			IntStream.range(0, this.members.size())
				.filter((member) -> this.request.consumes(member, shard))
				.forEach(takers::add);
			return takers;
		}

		private Comparator<Integer> takersFirst() {
			return Comparator.<Integer>comparingDouble((member) -> load(member, 1))
				.thenComparing(Comparator.naturalOrder());
		}

		private Comparator<Integer> heaviestFirst() {
			return Comparator.<Integer>comparingDouble((member) -> -load(member, 0))
				.thenComparing(Comparator.reverseOrder());
		}

		boolean move() {
			Move move = nextMove();
			if (move == null) {
				return false;
			}
			this.weights[this.owners[move.shard]] -= weight(move.shard);
			give(move.shard, move.to);
			return true;
		}

		boolean hasMove() {
			return nextMove() != null;
		}

		private @Nullable Move nextMove() {
			List<Integer> takers = sorted(takersFirst());
			int[][] held = null;
			for (Integer heavy : sorted(heaviestFirst())) {
				if (!improves(heavy, takers.get(0), 1)) {
					// The members after it have lower loads.
					return null;
				}
				held = (held != null) ? held : held();
				List<Integer> candidates = candidates(held[heavy]);
				for (Integer light : takers) {
					Move move = move(heavy, light, candidates);
					if (move != null) {
						return move;
					}
				}
			}
			return null;
		}

		private List<Integer> sorted(Comparator<Integer> order) {
			return IntStream.range(0, this.members.size()).boxed().sorted(order).toList();
		}

		private boolean improves(int from, int to, long weight) {
			return load(to, weight) < load(from, 0);
		}

		private @Nullable Move move(int from, int to, List<Integer> candidates) {
			for (int shard : candidates) {
				if (improves(from, to, weight(shard)) && this.request.consumes(to, shard)) {
					return new Move(shard, to);
				}
			}
			return null;
		}

		private int[][] held() {
			int[] counts = new int[this.members.size()];
			for (int shard = 0; shard < this.owners.length; shard++) {
				if (isMovable(shard)) {
					counts[this.owners[shard]]++;
				}
			}
			int[][] held = new int[counts.length][];
			for (int member = 0; member < counts.length; member++) {
				held[member] = new int[counts[member]];
			}
			for (int shard = this.owners.length - 1; shard >= 0; shard--) {
				if (isMovable(shard)) {
					held[this.owners[shard]][--counts[this.owners[shard]]] = shard;
				}
			}
			return held;
		}

		private boolean isMovable(int shard) {
			return this.owners[shard] != AssignmentRequest.NOBODY && this.pinned[shard] == AssignmentRequest.NOBODY;
		}

		/** Returns for each topic and weight the shard that came last, latest first. */
		private List<Integer> candidates(int[] held) {
			Map<Alike, Integer> latest = new LinkedHashMap<>();
			for (int shard : held) {
				Alike alike = new Alike(this.request.shards().get(shard).topic(), weight(shard));
				latest.merge(alike, shard,
						(one, other) -> (this.request.since(one) > this.request.since(other)) ? one : other);
			}
			List<Integer> candidates = new ArrayList<>(latest.values());
			candidates.sort(Comparator.<Integer>comparingLong(this.request::since)
				.thenComparing(Comparator.naturalOrder())
				.reversed());
			return candidates;
		}

		private void give(int shard, int member) {
			this.owners[shard] = member;
			this.weights[member] += weight(shard);
		}

		private long weight(int shard) {
			return this.request.traits(shard).weight();
		}

		/** Returns the load of a member. Equal fractions are equal as doubles too. */
		private double load(int member, long further) {
			return (double) (this.weights[member] + further) / this.members.get(member).capacity();
		}

		Assignment assignment(boolean unfinished) {
			byte[] reasons = new byte[this.owners.length];
			for (int shard = 0; shard < reasons.length; shard++) {
				reasons[shard] = (byte) reason(shard).ordinal();
			}
			return Assignment.unchecked(this.request, this.owners, reasons, Map.of(), unfinished);
		}

		private Reason reason(int shard) {
			int before = this.request.owner(shard);
			if (this.pinned[shard] != AssignmentRequest.NOBODY) {
				return Reason.PINNED;
			}
			if (this.owners[shard] == before) {
				return Reason.KEPT;
			}
			return (before != AssignmentRequest.NOBODY && this.request.consumes(before, shard)) ? Reason.SHARE
					: Reason.PLACED;
		}

		private record Move(int shard, int to) {

		}

		private record Alike(String topic, long weight) {

		}

	}

}
