package io.github.shardkeeper.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * A file with the figures of a table. Each line is written at once: a run that fails
 * later leaves its earlier figures. Not thread-safe.
 */
public final class RawFigures implements Consumer<String>, AutoCloseable {

	private final BufferedWriter writer;

	/**
	 * Creates the file, or replaces an earlier one.
	 * @param file the file
	 * @param columns their names
	 * @throws IOException when it cannot be written
	 */
	public RawFigures(Path file, List<String> columns) throws IOException {
		this.writer = Files.newBufferedWriter(file);
		accept(String.join(",", columns));
	}

	/**
	 * Adds a line.
	 * @param line its values, with commas between them
	 * @throws UncheckedIOException when it cannot be written
	 */
	@Override
	public void accept(String line) {
		try {
			this.writer.write(line);
			this.writer.newLine();
			this.writer.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Writes figures one by one.
	 * @param name the first value of each line
	 * @param figures the figures
	 * @param to receives the lines
	 */
	public static void add(String name, Samples figures, Consumer<String> to) {
		for (int i = 0; i < figures.values().size(); i++) {
			to.accept(String.format(Locale.ROOT, "\"%s\",%d,%.3f", name, i + 1, figures.values().get(i)));
		}
	}

	@Override
	public void close() throws IOException {
		this.writer.close();
	}

}
