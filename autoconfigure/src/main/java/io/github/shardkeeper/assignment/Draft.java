package io.github.shardkeeper.assignment;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * An assignment that is being computed: who holds what, and how much. Decides nothing.
 * Confined to its thread.
 */
final class Draft {

	private static final Comparator<Map.Entry<ShardId, Tenure>> EARLIEST_FIRST = Comparator.<Map.Entry<ShardId, Tenure>>comparingLong(
			(entry) -> entry.getValue().since())
		.thenComparing(Map.Entry::getKey);

	private final AssignmentRequest request;

	private final Map<ShardId, MemberId> owners = new TreeMap<>();

	/**
	 * Per member and topic the shards it holds; the last one came last, and is the first
	 * to move.
	 */
	private final Map<MemberId, Map<String, Deque<ShardId>>> held = new TreeMap<>();

	/** When each shard was given to its owner: numbers that rise. */
	private final Map<ShardId, Integer> arrivals = new HashMap<>();

	private int lastArrival;

	private final Map<MemberId, Integer> loads = new HashMap<>();

	private final TreeSet<MemberId> byLoad = new TreeSet<>(
			Comparator.<MemberId>comparingInt(this::load).thenComparing(Comparator.naturalOrder()));

	Draft(AssignmentRequest request) {
		this.request = request;
		request.members().keySet().forEach((member) -> {
			this.loads.put(member, 0);
			this.held.put(member, new TreeMap<>());
			this.byLoad.add(member);
		});
	}

	/** Gives each shard to today's owner if that is still there and consumes it. */
	void keepCurrent() {
		this.request.current()
			.entrySet()
			.stream()
			.filter((entry) -> this.request.shards().contains(entry.getKey()))
			.filter((entry) -> subscribes(entry.getValue().owner(), entry.getKey().topic()))
			.sorted(EARLIEST_FIRST)
			.forEachOrdered((entry) -> give(entry.getKey(), entry.getValue().owner()));
	}

	Map<ShardId, MemberId> owners() {
		return this.owners;
	}

	List<ShardId> unowned() {
		return this.request.shards().stream().filter((shard) -> !this.owners.containsKey(shard)).toList();
	}

	/** The members, the least loaded first; a live view. */
	NavigableSet<MemberId> byLoad() {
		return this.byLoad;
	}

	Map<MemberId, Assignee> members() {
		return this.request.members();
	}

	int load(MemberId member) {
		return this.loads.getOrDefault(member, 0);
	}

	int load(Collection<MemberId> members) {
		return members.stream().mapToInt(this::load).sum();
	}

	int load(MemberId member, String topic) {
		return shardsOf(member, topic).size();
	}

	Set<String> topics(MemberId member) {
		Assignee assignee = this.request.members().get(member);
		return (assignee != null) ? assignee.topics() : Set.of();
	}

	boolean subscribes(MemberId member, String topic) {
		return topics(member).contains(topic);
	}

	/**
	 * Of the topics that one member could give to another the one of which it holds most
	 * more than the other, so that each topic's shards are spread; of equal ones that
	 * with the shard that came last.
	 */
	@Nullable String movableTopic(MemberId from, MemberId to, Predicate<String> allowed) {
		Comparator<Map.Entry<String, Deque<ShardId>>> order = Comparator
			.comparingInt((entry) -> entry.getValue().size() - load(to, entry.getKey()));
		return this.held.getOrDefault(from, Map.of())
			.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().isEmpty() && subscribes(to, entry.getKey()))
			.filter((entry) -> allowed.test(entry.getKey()))
			.max(order.thenComparing((entry) -> this.arrivals.getOrDefault(entry.getValue().getLast(), 0)))
			.map(Map.Entry::getKey)
			.orElse(null);
	}

	void give(ShardId shard, MemberId member) {
		this.owners.put(shard, member);
		this.arrivals.put(shard, ++this.lastArrival);
		shardsOf(member, shard.topic()).addLast(shard);
		changeLoad(member, 1);
	}

	void move(Step step) {
		ShardId shard = shardsOf(step.from, step.topic).removeLast();
		changeLoad(step.from, -1);
		give(shard, step.to);
	}

	private void changeLoad(MemberId member, int delta) {
		this.byLoad.remove(member);
		this.loads.merge(member, delta, Integer::sum);
		this.byLoad.add(member);
	}

	private Deque<ShardId> shardsOf(MemberId member, String topic) {
		return this.held.computeIfAbsent(member, (m) -> new TreeMap<>())
			.computeIfAbsent(topic, (t) -> new ArrayDeque<>());
	}

	/**
	 * The move of one shard of a topic.
	 */
	record Step(MemberId from, MemberId to, String topic) {

	}

}
