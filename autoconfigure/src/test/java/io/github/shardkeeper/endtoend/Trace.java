package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.shardkeeper.shard.ShardId;

/**
 * Traces of all instances.
 *
 * @param lines each call of a handler that returned, in the order in which they began
 * @param interrupted each call of a handler that threw because it was interrupted
 * @param storeCalls each acquisition and each commit that was answered
 * @param suspensions each end of a lease
 */
record Trace(List<Line> lines, List<Line> interrupted, List<StoreCall> storeCalls, List<Suspension> suspensions) {

	static final String HANDLED = "handled";

	static final String INTERRUPTED = "interrupted";

	static final String ACQUIRE = "acquire";

	static final String COMMIT = "commit";

	static final String SUSPENDED = "suspended";

	static final String ACCEPTED = "accepted";

	static final String REFUSED = "refused";

	/**
	 * The time for traces: of the monotonic clock, which on the systems that the tests
	 * run on is the same for all processes of a machine and never set.
	 */
	static long nowMicros() {
		return System.nanoTime() / 1000;
	}

	/** The name of a shard in traces: of the first topic, its id alone. */
	static String name(ShardId shard) {
		return shard.topic().equals(TracingInstance.TOPIC) ? shard.id() : shard.toString();
	}

	static Trace read(Path directory) {
		Trace trace = new Trace(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.filter((path) -> path.toString().endsWith(".trace")).toList()) {
				String text = Files.readString(file);
				// The last line may be being written.
				text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(trace::add);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		trace.lines.sort(Comparator.comparingLong(Line::beginMicros));
		return trace;
	}

	private void add(String text) {
		String[] fields = text.split(" ");
		switch (fields[0]) {
			case HANDLED -> this.lines.add(Line.parse(fields));
			case INTERRUPTED -> this.interrupted.add(Line.parse(fields));
			case ACQUIRE, COMMIT -> this.storeCalls.add(StoreCall.parse(fields));
			case SUSPENDED -> this.suspensions.add(Suspension.parse(fields));
			default -> throw new IllegalArgumentException("No line of a trace: " + text);
		}
	}

	Map<String, List<Line>> byShard() {
		return this.lines.stream().collect(Collectors.groupingBy(Line::shard, TreeMap::new, Collectors.toList()));
	}

	/** The longest time without a record of a shard between two points in time. */
	static Duration longestGap(List<Line> lines, long fromMicros, long toMicros) {
		long longest = 0;
		for (int i = 1; i < lines.size(); i++) {
			if (lines.get(i).beginMicros() >= fromMicros && lines.get(i - 1).beginMicros() <= toMicros) {
				longest = Math.max(longest, lines.get(i).beginMicros() - lines.get(i - 1).beginMicros());
			}
		}
		return micros(longest);
	}

	/** The first change of a shard's owner after a point in time. */
	static Optional<Move> move(List<Line> lines, long fromMicros) {
		for (int i = 1; i < lines.size(); i++) {
			Line line = lines.get(i);
			Line before = lines.get(i - 1);
			if (line.beginMicros() >= fromMicros && !line.instance().equals(before.instance())) {
				return Optional.of(new Move(before.beginMicros(), line.beginMicros()));
			}
		}
		return Optional.empty();
	}

	static Duration micros(long micros) {
		return Duration.ofNanos(micros * 1000);
	}

	/**
	 * A change of owner.
	 *
	 * @param lastMicros the old owner's last record
	 * @param firstMicros the new owner's first
	 */
	record Move(long lastMicros, long firstMicros) {

		Duration gap() {
			return micros(this.firstMicros - this.lastMicros);
		}

	}

	/**
	 * A call of the handler.
	 *
	 * @param sum the sum of the shard's numbers after it, by the shard's state
	 * @param count how many there were, by the shard's state
	 */
	record Line(long beginMicros, long endMicros, String instance, String shard, long token, long number, long sum,
			long count) {

		private static Line parse(String[] fields) {
			return new Line(Long.parseLong(fields[1]), Long.parseLong(fields[2]), fields[3], fields[4],
					Long.parseLong(fields[5]), Long.parseLong(fields[6]), Long.parseLong(fields[7]),
					Long.parseLong(fields[8]));
		}

	}

	/**
	 * The end of a lease: an instance stops consuming until its heartbeats are answered
	 * again.
	 */
	record Suspension(long atMicros, String instance) {

		private static Suspension parse(String[] fields) {
			return new Suspension(Long.parseLong(fields[1]), fields[2]);
		}

	}

	/**
	 * A call of the checkpoint store that was answered.
	 *
	 * @param what {@value #ACQUIRE} or {@value #COMMIT}
	 * @param accepted whether it was, or was refused because of a newer token
	 */
	record StoreCall(String what, long beginMicros, long endMicros, String instance, String shard, long token,
			boolean accepted) {

		private static StoreCall parse(String[] fields) {
			return new StoreCall(fields[0], Long.parseLong(fields[1]), Long.parseLong(fields[2]), fields[3], fields[4],
					Long.parseLong(fields[5]), fields[6].equals(ACCEPTED));
		}

	}

}
