package io.github.shardkeeper.endtoend;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Writes down what one instance does, in the form that {@link Trace} reads. Thread-safe.
 */
final class TraceWriter {

	private final String instance;

	/**
	 * A stream and no channel: a channel is closed for good when a thread is interrupted
	 * while it writes, and handlers are interrupted.
	 */
	private final OutputStream file;

	TraceWriter(Path file, String instance) {
		this.instance = instance;
		try {
			this.file = new FileOutputStream(file.toFile(), true);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void call(boolean completed, long beginMicros, ShardId shard, Token token, long number, long sum, long count) {
		write("%s %d %d %s %s %s %d %d %d%n".formatted(completed ? Trace.HANDLED : Trace.INTERRUPTED, beginMicros,
				Trace.nowMicros(), this.instance, Trace.name(shard), token, number, sum, count));
	}

	void storeCall(String what, long beginMicros, ShardId shard, Token token, String reply) {
		write("%s %d %d %s %s %s %s%n".formatted(what, beginMicros, Trace.nowMicros(), this.instance, Trace.name(shard),
				token, reply));
	}

	void suspended() {
		write("%s %d %s%n".formatted(Trace.SUSPENDED, Trace.nowMicros(), this.instance));
	}

	/** One write per line: whole lines even if the process is killed. */
	private void write(String line) {
		try {
			this.file.write(line.getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
