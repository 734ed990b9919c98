package io.github.shardkeeper.benchmarks.moves;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes down what an instance handles, a line per record, in the form that
 * {@link Traces} reads. Each line is one write: what was handled before a {@code kill -9}
 * is in the file. Thread-safe.
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
	 * @param payload what the record carried
	 * @param epoch a number that is higher for later owners: the token, or the generation
	 */
	void handled(int shard, byte[] payload, long epoch) {
		Payload record = Payload.of(payload);
		write("%d %d %d %d %d".formatted(shard, record.number(), epoch, record.sentNanos(), System.nanoTime()));
	}

	/** A commit was refused. */
	void commitFailed() {
		write(Traces.COMMIT_FAILED);
	}

	private void write(String line) {
		byte[] bytes = (line + "\n").getBytes(StandardCharsets.US_ASCII);
		try {
			this.file.write(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
