package io.github.shardkeeper.benchmarks.moves.group;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Traces of all instances of a group. Confined to one thread.
 */
final class Traces {

	/** Lines that are counted. */
	static final String COMMIT_FAILED = "commit failed";

	/** The lease of an instance has ended. */
	static final String SUSPENDED = "suspended";

	private static final Set<String> COUNTED = Set.of(COMMIT_FAILED, SUSPENDED);

	/** Begins the line of a process that has started, in front of the time. */
	static final String READY = "ready ";

	static final String SUFFIX = ".trace";

	private static final Comparator<Handled> BY_TIME = Comparator.comparingLong(Handled::nanos);

	private final Path directory;

	private final Map<Path, Long> readUpTo = new HashMap<>();

	private final List<List<Handled>> byShard = new ArrayList<>();

	/** Of the last process of each instance. */
	private final Map<String, Long> readyNanos = new HashMap<>();

	private final Map<String, Integer> counts = new HashMap<>();

	Traces(Path directory, int shards) {
		this.directory = directory;
		for (int shard = 0; shard < shards; shard++) {
			this.byShard.add(new ArrayList<>());
		}
	}

	/**
	 * Reads the lines written since the last call.
	 * @return the handled records, by shard and in the order of time
	 */
	List<List<Handled>> read() throws IOException {
		try (Stream<Path> files = Files.list(this.directory)) {
			for (Path file : files.filter((path) -> path.toString().endsWith(SUFFIX)).sorted().toList()) {
				read(file);
			}
		}
		// Nearly sorted already, for which this sort is fast.
		this.byShard.forEach((handled) -> handled.sort(BY_TIME));
		return this.byShard;
	}

	private void read(Path path) throws IOException {
		long from = this.readUpTo.getOrDefault(path, 0L);
		try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
			byte[] bytes = new byte[(int) (file.length() - from)];
			file.seek(from);
			file.readFully(bytes);
			String text = new String(bytes, StandardCharsets.US_ASCII);
			// The last line may be being written.
			int end = text.lastIndexOf('\n') + 1;
			this.readUpTo.put(path, from + end);
			String instance = path.getFileName().toString().replace(SUFFIX, "");
			text.substring(0, end).lines().forEach((line) -> add(instance, line));
		}
	}

	private void add(String instance, String line) {
		if (COUNTED.contains(line)) {
			this.counts.merge(line, 1, Integer::sum);
		}
		else if (line.startsWith(READY)) {
			this.readyNanos.put(instance, Long.parseLong(line.substring(READY.length())));
		}
		else {
			Handled handled = Handled.parse(instance, line);
			this.byShard.get(handled.shard()).add(handled);
		}
	}

	/** Returns when the last process of an instance had started. */
	long readyNanos(String instance) {
		return this.readyNanos.get(instance);
	}

	/** Returns how often a line was read that is counted. */
	int count(String line) {
		return this.counts.getOrDefault(line, 0);
	}

}
