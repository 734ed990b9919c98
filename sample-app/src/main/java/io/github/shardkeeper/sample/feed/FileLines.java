package io.github.shardkeeper.sample.feed;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.sample.AccessLine;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Lines of a real access log. A call continues where the last one ended, or reads the
 * file from its beginning if another line is requested. Confined to the feeder's thread.
 */
final class FileLines implements LogLines {

	private final Path file;

	private @Nullable Reader reader;

	private long nextNumber;

	/**
	 * Opens nothing yet, but checks that the file is there.
	 * @param file its path; a relative one begins in the working directory
	 * @throws ShardkeeperConfigurationException when there is no such file
	 */
	FileLines(String file) {
		Path path = Path.of(file).toAbsolutePath();
		if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
			throw new ShardkeeperConfigurationException(
					"'sample.file' is '%s', but %s is not a file that can be read.".formatted(file, path),
					"Name an access log, for example --sample.file=/var/log/apache2/access.log, or leave the option"
							+ " out to have lines generated.");
		}
		try {
			this.file = path.toRealPath();
		}
		catch (IOException ex) {
			throw new ShardkeeperConfigurationException("'sample.file' is '%s', which cannot be read.".formatted(file),
					"Name another file.", ex);
		}
	}

	@Override
	public String name() {
		return this.file.toString();
	}

	@Override
	public List<AccessLine> read(long first, int most) throws IOException {
		Reader reader = readerAt(first);
		List<AccessLine> lines = new ArrayList<>();
		String text;
		while (lines.size() < most && (text = readLine(reader)) != null) {
			lines.add(new AccessLine(this.nextNumber++, text));
		}
		return lines;
	}

	private Reader readerAt(long number) throws IOException {
		Reader reader = this.reader;
		if (reader == null || this.nextNumber != number) {
			if (reader != null) {
				reader.close();
			}
			// Every byte is a character in this charset, so no log is unreadable.
			reader = Files.newBufferedReader(this.file, StandardCharsets.ISO_8859_1);
			this.reader = reader;
			this.nextNumber = 0;
			while (this.nextNumber < number && readLine(reader) != null) {
				this.nextNumber++;
			}
		}
		return reader;
	}

	/** Only a line feed ends a line, as for the shell's tools. */
	private static @Nullable String readLine(Reader reader) throws IOException {
		int character = reader.read();
		if (character < 0) {
			return null;
		}
		StringBuilder line = new StringBuilder();
		while (character >= 0 && character != '\n') {
			line.append((char) character);
			character = reader.read();
		}
		return line.toString();
	}

}
