package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.group.Exactness;
import io.github.shardkeeper.benchmarks.moves.group.Exactness.Kind;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;
import io.github.shardkeeper.benchmarks.moves.group.Window;

/**
 * Results of the groups of one protocol. Filled by one thread.
 */
final class GroupResults {

	private final GroupProtocol protocol;

	private final Map<Event, List<Window>> windows = new EnumMap<>(Event.class);

	private final List<Window> stops = new ArrayList<>();

	/** One for each group. */
	private final List<Exactness> exactness = new ArrayList<>();

	private final Samples restarts = new Samples();

	private int failedCommits;

	private int endedLeases;

	GroupResults(GroupProtocol protocol) {
		this.protocol = protocol;
	}

	void add(Event event, Window window) {
		this.windows.computeIfAbsent(event, (unused) -> new ArrayList<>()).add(window);
	}

	/**
	 * Adds a time in which a process was stopped for longer than its lease: its calls of
	 * that moment are interrupted when it wakes, and repeated.
	 */
	void addStop(Window window) {
		this.stops.add(window);
	}

	/** Adds the time from the end of a process until its successor is ready. */
	void addRestart(double millis) {
		this.restarts.add(millis);
	}

	/**
	 * Adds the totals of a group at its end.
	 * @param failedCommits the number of commits that were rejected
	 * @param endedLeases the number of leases that ended while their process ran
	 */
	void finish(Exactness exactness, int failedCommits, int endedLeases) {
		this.exactness.add(exactness);
		this.failedCommits += failedCommits;
		this.endedLeases += endedLeases;
	}

	GroupProtocol protocol() {
		return this.protocol;
	}

	List<Window> windows(Event event) {
		return this.windows.getOrDefault(event, List.of());
	}

	boolean has(Event event) {
		return this.windows.containsKey(event);
	}

	/**
	 * Returns for each shard that moved the time from the old owner's last to the new
	 * owner's first record.
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
	 * Returns for each round the median of {@link #gaps}: shards that move together move
	 * alike.
	 */
	Samples roundMedians(Event event) {
		Samples medians = new Samples();
		windows(event).stream()
			.map(GroupResults::gaps)
			.filter((gaps) -> !gaps.values().isEmpty())
			.forEach((gaps) -> medians.add(gaps.median()));
		return medians;
	}

	/**
	 * Returns for each shard that did not move the longest time without a record; shards
	 * of a frozen process are counted {@linkplain #frozen() apart}.
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
	 * Returns for each shard of a frozen process the longest time without a record: until
	 * the process was woken, or another instance had the shard.
	 */
	Samples frozen() {
		Samples frozen = new Samples();
		windows(Event.FREEZE).forEach((window) -> window.shards()
			.stream()
			.filter(Window.Shard::frozen)
			.forEach((shard) -> frozen.add(shard.longestMillis())));
		return frozen;
	}

	/**
	 * Returns for each replaced process the time until its successor was ready,
	 * {@linkplain Event#RESTART if that had its name}.
	 */
	Samples restarts() {
		return this.restarts;
	}

	/** Returns how long each round of an event took. */
	Samples seconds(Event event) {
		Samples seconds = new Samples();
		windows(event).forEach((window) -> seconds.add((window.toNanos() - window.fromNanos()) / 1e9));
		return seconds;
	}

	long lost() {
		return this.exactness.stream().mapToLong(Exactness::lost).sum();
	}

	long count(Kind kind) {
		return this.exactness.stream().mapToLong((group) -> group.count(kind)).sum();
	}

	/** Returns the number of violations during an event. */
	long count(Kind kind, Event event) {
		return this.exactness.stream()
			.mapToLong((group) -> windows(event).stream().mapToLong((window) -> group.count(kind, window)).sum())
			.sum();
	}

	int failedCommits() {
		return this.failedCommits;
	}

	int endedLeases() {
		return this.endedLeases;
	}

	/** Returns the figures of every shard in every event, of several protocols. */
	static List<String> raw(List<GroupResults> all) {
		List<String> lines = new ArrayList<>(
				List.of("contender,event,round,shard,moves,gap_ms,longest_ms,gaps_ms,standstills_ms,frozen"));
		all.forEach((results) -> results.windows.forEach((event, windows) -> {
			for (int round = 0; round < windows.size(); round++) {
				List<Window.Shard> shards = windows.get(round).shards();
				for (int shard = 0; shard < shards.size(); shard++) {
					Window.Shard seen = shards.get(shard);
					lines.add(String.format(Locale.ROOT, "\"%s\",%s,%d,%d,%d,%.3f,%.3f,%.3f,%.3f,%b",
							results.protocol.text(), event.option(), round, shard, seen.moves(), seen.gapMillis(),
							seen.longestMillis(), seen.gapsMillis(), seen.standstillsMillis(), seen.frozen()));
				}
			}
		}));
		return lines;
	}

	/**
	 * Fails if Shardkeeper has lost a record, handled it out of order, or by two owners.
	 * Records may be handled again only after a crash, and by the same instance after it
	 * was stopped.
	 */
	void verify() {
		if (!this.protocol.isShardkeeper()) {
			return;
		}
		long again = count(Kind.TWICE) + count(Kind.AGAIN) - count(Kind.TWICE, Event.KILL) - againAfterStops();
		if (lost() + count(Kind.OUT_OF_ORDER) + count(Kind.TWO_OWNERS) + again > 0) {
			throw new IllegalStateException(
					"%s: %d records lost, %d out of order, %d by two owners, %d again without a crash or a stop"
						.formatted(this.protocol.text(), lost(), count(Kind.OUT_OF_ORDER), count(Kind.TWO_OWNERS),
								again));
		}
	}

	private long againAfterStops() {
		return this.exactness.stream()
			.mapToLong((group) -> this.stops.stream().mapToLong((stop) -> group.count(Kind.AGAIN, stop)).sum())
			.sum();
	}

}
