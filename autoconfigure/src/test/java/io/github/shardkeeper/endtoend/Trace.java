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

/**
 * What the handlers of all instances have written down.
 *
 * @param lines each call of a handler, in the order of time
 */
record Trace(List<Line> lines) {

	static Trace read(Path directory) {
		try (Stream<Path> files = Files.list(directory)) {
			List<Line> lines = new ArrayList<>();
			for (Path file : files.filter((path) -> path.toString().endsWith(".trace")).toList()) {
				String text = Files.readString(file);
				// The last line may be being written.
				text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach((line) -> lines.add(Line.parse(line)));
			}
			lines.sort(Comparator.comparingLong(Line::micros));
			return new Trace(lines);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Map<String, List<Line>> byShard() {
		return this.lines.stream().collect(Collectors.groupingBy(Line::shard, TreeMap::new, Collectors.toList()));
	}

	/** The longest time without a record of a shard between two points in time. */
	static Duration longestGap(List<Line> lines, long fromMicros, long toMicros) {
		long longest = 0;
		for (int i = 1; i < lines.size(); i++) {
			if (lines.get(i).micros() >= fromMicros && lines.get(i - 1).micros() <= toMicros) {
				longest = Math.max(longest, lines.get(i).micros() - lines.get(i - 1).micros());
			}
		}
		return micros(longest);
	}

	/** The first change of a shard's owner after a point in time. */
	static Optional<Move> move(List<Line> lines, long fromMicros) {
		for (int i = 1; i < lines.size(); i++) {
			if (lines.get(i).micros() >= fromMicros && !lines.get(i).instance().equals(lines.get(i - 1).instance())) {
				return Optional.of(new Move(lines.get(i - 1).micros(), lines.get(i).micros()));
			}
		}
		return Optional.empty();
	}

	private static Duration micros(long micros) {
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

	record Line(long micros, String instance, String shard, long number, long token, long sum, long count) {

		static Line parse(String text) {
			String[] fields = text.split(" ");
			return new Line(Long.parseLong(fields[0]), fields[1], fields[2], Long.parseLong(fields[3]),
					Long.parseLong(fields[4]), Long.parseLong(fields[5]), Long.parseLong(fields[6]));
		}

	}

}
