package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * An assignment that is being improved one shard at a time. Confined to its thread.
 */
final class IncrementalDraft {

	private final AssignmentRequest request;

	private final List<Assignee> members;

	private final int[] pinned;

	private final int[] owners;

	/** By member the weight of all that it holds. */
	private final long[] weights;

	IncrementalDraft(AssignmentRequest request) {
		this.request = request;
		this.members = request.members();
		this.pinned = Pins.owners(request);
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

	/** Who would be the least loaded with one more comes first. */
	private Comparator<Integer> takersFirst() {
		return Comparator.<Integer>comparingDouble((member) -> load(member, 1))
			.thenComparing(Comparator.naturalOrder());
	}

	private Comparator<Integer> heaviestFirst() {
		return Comparator.<Integer>comparingDouble((member) -> -load(member, 0))
			.thenComparing(Comparator.reverseOrder());
	}

	/** Makes the move that is due, if one is. */
	boolean move() {
		Move move = nextMove();
		if (move == null) {
			return false;
		}
		this.weights[this.owners[move.shard]] -= weight(move.shard);
		give(move.shard, move.to);
		return true;
	}

	boolean couldMove() {
		return nextMove() != null;
	}

	private @Nullable Move nextMove() {
		List<Integer> takers = sorted(takersFirst());
		int[][] held = null;
		for (Integer heavy : sorted(heaviestFirst())) {
			if (!improves(heavy, takers.get(0), 1)) {
				// Nor could anybody take from who carries less.
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

	/** By member the shards that it may give away. */
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

	/** Of each topic and weight the shard that came last; all of them, latest first. */
	private List<Integer> candidates(int[] held) {
		Map<Kind, Integer> latest = new LinkedHashMap<>();
		for (int shard : held) {
			Kind kind = new Kind(this.request.shards().get(shard).topic(), weight(shard));
			latest.merge(kind, shard,
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

	/** Equal quotients of whole numbers are equal as doubles too. */
	private double load(int member, long further) {
		return (double) (this.weights[member] + further) / this.members.get(member).capacity();
	}

	Assignment assignment(boolean unfinished) {
		byte[] reasons = new byte[this.owners.length];
		for (int shard = 0; shard < reasons.length; shard++) {
			reasons[shard] = (byte) reason(shard).ordinal();
		}
		return new Assignment(this.request, this.owners, reasons, Map.of(), unfinished);
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

	/**
	 * The move of one shard.
	 */
	private record Move(int shard, int to) {

	}

	/**
	 * Shards that are alike to who takes one of them.
	 */
	private record Kind(String topic, long weight) {

	}

}
