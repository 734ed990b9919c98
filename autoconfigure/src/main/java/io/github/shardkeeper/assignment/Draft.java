package io.github.shardkeeper.assignment;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * An assignment that is being computed: who holds what, and how much. Decides nothing.
 * Confined to its thread.
 */
final class Draft {

	private final AssignmentRequest request;

	private final int[] owners;

	private final byte[] reasons;

	/**
	 * Per member and topic the shards it holds; the last one came last, and is the first
	 * to move.
	 */
	private final List<Map<String, Deque<Integer>>> held;

	/** When each shard was given to its owner: numbers that rise. */
	private final int[] arrivals;

	private int lastArrival;

	private final int[] loads;

	private final TreeSet<Integer> byLoad = new TreeSet<>(
			Comparator.<Integer>comparingInt(this::load).thenComparing(Comparator.naturalOrder()));

	Draft(AssignmentRequest request) {
		this.request = request;
		int shards = request.shards().size();
		int members = request.members().size();
		this.owners = new int[shards];
		Arrays.fill(this.owners, AssignmentRequest.NOBODY);
		this.reasons = new byte[shards];
		this.arrivals = new int[shards];
		this.loads = new int[members];
		this.held = IntStream.range(0, members)
			.<Map<String, Deque<Integer>>>mapToObj((member) -> new TreeMap<>())
			.toList();
		IntStream.range(0, members).forEach(this.byLoad::add);
	}

	/** Gives each shard to today's owner if that is still there and consumes it. */
	void keepCurrent() {
		IntStream.range(0, this.owners.length)
			.filter((shard) -> this.request.owner(shard) != AssignmentRequest.NOBODY)
			.filter((shard) -> subscribes(this.request.owner(shard), topic(shard)))
			.boxed()
			.sorted(Comparator.<Integer>comparingLong(this.request::since).thenComparing(Comparator.naturalOrder()))
			.forEachOrdered((shard) -> give(shard, this.request.owner(shard), Reason.KEPT));
	}

	Assignment assignment() {
		for (int shard = 0; shard < this.owners.length; shard++) {
			if (this.owners[shard] == this.request.owner(shard)) {
				this.reasons[shard] = (byte) Reason.KEPT.ordinal();
			}
		}
		return new Assignment(this.request, this.owners, this.reasons, Map.of());
	}

	List<Integer> unowned() {
		return IntStream.range(0, this.owners.length)
			.filter((shard) -> this.owners[shard] == AssignmentRequest.NOBODY)
			.boxed()
			.toList();
	}

	String topic(int shard) {
		return this.request.shards().get(shard).topic();
	}

	/** The members, the least loaded first; a live view. */
	NavigableSet<Integer> byLoad() {
		return this.byLoad;
	}

	List<Assignee> members() {
		return this.request.members();
	}

	int load(int member) {
		return this.loads[member];
	}

	int load(Collection<Integer> members) {
		return members.stream().mapToInt(this::load).sum();
	}

	int load(int member, String topic) {
		return shardsOf(member, topic).size();
	}

	Set<String> topics(int member) {
		return this.request.members().get(member).topics();
	}

	boolean subscribes(int member, String topic) {
		return topics(member).contains(topic);
	}

	/**
	 * Of the topics that one member could give to another the one of which it holds most
	 * more than the other, so that each topic's shards are spread; of equal ones that
	 * with the shard that came last.
	 */
	@Nullable String movableTopic(int from, int to, Predicate<String> allowed) {
		Comparator<Map.Entry<String, Deque<Integer>>> order = Comparator
			.comparingInt((entry) -> entry.getValue().size() - load(to, entry.getKey()));
		return this.held.get(from)
			.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().isEmpty() && subscribes(to, entry.getKey()))
			.filter((entry) -> allowed.test(entry.getKey()))
			.max(order.thenComparing((entry) -> this.arrivals[entry.getValue().getLast()]))
			.map(Map.Entry::getKey)
			.orElse(null);
	}

	void give(int shard, int member, Reason reason) {
		this.owners[shard] = member;
		this.reasons[shard] = (byte) reason.ordinal();
		this.arrivals[shard] = ++this.lastArrival;
		shardsOf(member, topic(shard)).addLast(shard);
		changeLoad(member, 1);
	}

	void move(Step step, Reason reason) {
		int shard = shardsOf(step.from, step.topic).removeLast();
		changeLoad(step.from, -1);
		give(shard, step.to, reason);
	}

	private void changeLoad(int member, int delta) {
		this.byLoad.remove(member);
		this.loads[member] += delta;
		this.byLoad.add(member);
	}

	private Deque<Integer> shardsOf(int member, String topic) {
		return this.held.get(member).computeIfAbsent(topic, (t) -> new ArrayDeque<>());
	}

	/**
	 * The move of one shard of a topic.
	 */
	record Step(int from, int to, String topic) {

	}

}
