package io.github.shardkeeper.benchmarks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A file with every single figure of a benchmark. Each line is written at once: a run
 * that fails later leaves its earlier figures. Not thread-safe.
 */
public final class RawFigures implements AutoCloseable {

	private final BufferedWriter writer;

	/**
	 * Creates the file, or replaces an earlier one.
	 * @throws IOException when it cannot be written
	 */
	public RawFigures(Path file) throws IOException {
		this.writer = Files.newBufferedWriter(file);
		write("part,contender,round,figure,value,load_average");
	}

	/** Adds a figure. */
	public void add(String part, Contender contender, int round, String figure, double value) {
		write(String.format(Locale.ROOT, "\"%s\",\"%s\",%d,\"%s\",%.3f,%.2f", part, contender.text(), round, figure,
				value, Machine.load()));
	}

	private void write(String line) {
		try {
			this.writer.write(line);
			this.writer.newLine();
			this.writer.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		this.writer.close();
	}

}
