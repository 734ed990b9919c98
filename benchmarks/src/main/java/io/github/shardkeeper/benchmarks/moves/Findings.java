package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * What was seen of one contender. Filled by one thread.
 */
final class Findings {

	private final Contender contender;

	private final Map<Event, List<Window>> windows = new EnumMap<>(Event.class);

	/** Of each group that there was. */
	private final List<Exactness> exactness = new ArrayList<>();

	private int failedCommits;

	Findings(Contender contender) {
		this.contender = contender;
	}

	void add(Event event, Window window) {
		this.windows.computeIfAbsent(event, (unused) -> new ArrayList<>()).add(window);
	}

	/** A group's end. */
	void finish(Exactness exactness, int failedCommits) {
		this.exactness.add(exactness);
		this.failedCommits += failedCommits;
	}

	/** Those of Shardkeeper, the first ones if there are more. */
	static Optional<Findings> ours(List<Findings> all) {
		return all.stream().filter((findings) -> findings.contender().isOurs()).findFirst();
	}

	Contender contender() {
		return this.contender;
	}

	List<Window> windows(Event event) {
		return this.windows.getOrDefault(event, List.of());
	}

	boolean has(Event event) {
		return this.windows.containsKey(event);
	}

	/**
	 * Of each shard that moved, from the old owner's last to the new one's first record.
	 */
	Samples gaps(Event event) {
		Samples gaps = new Samples();
		windows(event).forEach((window) -> gaps(window).values().forEach(gaps::add));
		return gaps;
	}

	private static Samples gaps(Window window) {
		Samples gaps = new Samples();
		window.shards().stream().filter((shard) -> shard.moves() > 0).forEach((shard) -> gaps.add(shard.gapMillis()));
		return gaps;
	}

	/**
	 * Of each round, the median of {@link #gaps}: shards that move together move alike.
	 */
	Samples roundMedians(Event event) {
		Samples medians = new Samples();
		windows(event).stream()
			.map(Findings::gaps)
			.filter((gaps) -> !gaps.values().isEmpty())
			.forEach((gaps) -> medians.add(gaps.median()));
		return medians;
	}

	/**
	 * Of each shard that did not move, the longest time without a record; those of a
	 * frozen process are told {@linkplain #frozen() apart}.
	 */
	Samples standstills(Event event) {
		Samples standstills = new Samples();
		windows(event).forEach((window) -> window.shards()
			.stream()
			.filter((shard) -> shard.moves() == 0 && !shard.frozen())
			.forEach((shard) -> standstills.add(shard.longestMillis())));
		return standstills;
	}

	/**
	 * Of each shard of a process that was frozen, the longest time without a record:
	 * until it was woken, or somebody else had the shard.
	 */
	Samples frozen() {
		Samples frozen = new Samples();
		windows(Event.FREEZE).forEach((window) -> window.shards()
			.stream()
			.filter(Window.Shard::frozen)
			.forEach((shard) -> frozen.add(shard.longestMillis())));
		return frozen;
	}

	long lost() {
		return this.exactness.stream().mapToLong(Exactness::lost).sum();
	}

	long count(Kind kind) {
		return this.exactness.stream().mapToLong((group) -> group.count(kind)).sum();
	}

	/** How often something was wrong in the times of an event. */
	long count(Kind kind, Event event) {
		return this.exactness.stream()
			.mapToLong((group) -> windows(event).stream().mapToLong((window) -> group.count(kind, window)).sum())
			.sum();
	}

	int failedCommits() {
		return this.failedCommits;
	}

	/**
	 * Fails if a record was lost, out of order, or handled by two. Only a crash may have
	 * records handled again.
	 */
	void verify() {
		long again = count(Kind.TWICE) + count(Kind.AGAIN) - count(Kind.TWICE, Event.KILL);
		if (lost() + count(Kind.OUT_OF_ORDER) + count(Kind.TWO_OWNERS) + again > 0) {
			throw new IllegalStateException(
					"%s: %d records lost, %d out of order, %d by two owners, %d again without a crash".formatted(
							this.contender.name(), lost(), count(Kind.OUT_OF_ORDER), count(Kind.TWO_OWNERS), again));
		}
	}

}
