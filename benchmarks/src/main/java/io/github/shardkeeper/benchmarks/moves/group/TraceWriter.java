package io.github.shardkeeper.benchmarks.moves.group;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes a line per record that an instance handles, in the form that {@link Traces}
 * reads. Each line is one write: records handled before a {@code kill -9} are in the
 * file. Thread-safe.
 */
final class TraceWriter {

	/** A stream and no channel: interruption closes channels. */
	private final FileOutputStream file;

	TraceWriter(Path file) throws IOException {
		this.file = new FileOutputStream(file.toFile(), true);
	}

	/**
	 * A record was handled.
	 * @param shard the shard
	 * @param payload the payload of the record
	 * @param epoch a number that is higher for later owners: the token, or the generation
	 */
	void handled(int shard, byte[] payload, long epoch) {
		long nanos = System.nanoTime();
		Payload record = Payload.of(payload);
		// A formatter would take longer for its first line than a shard takes to move.
		write(new StringBuilder().append(shard)
			.append(' ')
			.append(record.number())
			.append(' ')
			.append(epoch)
			.append(' ')
			.append(record.sentNanos())
			.append(' ')
			.append(nanos));
	}

	/** The process has started. */
	void ready() {
		write(new StringBuilder(Traces.READY).append(System.nanoTime()));
	}

	/** A commit was rejected. */
	void commitFailed() {
		write(new StringBuilder(Traces.COMMIT_FAILED));
	}

	/** The lease of the instance has ended. */
	void suspended() {
		write(new StringBuilder(Traces.SUSPENDED));
	}

	private void write(StringBuilder line) {
		byte[] bytes = line.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
		try {
			this.file.write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
