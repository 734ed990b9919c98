package io.github.shardkeeper.benchmarks.latency;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;
import io.github.shardkeeper.benchmarks.latency.Contender.Place;

/**
 * A process with one instance of a contender. Has no state.
 */
final class ReceiverProcess {

	private ReceiverProcess() {
	}

	/**
	 * Receives until its input is closed; a request is one of those below.
	 * @param arguments the contender, the server's address, the number of shards, the
	 * number of the instance, the number of instances
	 */
	public static void main(String[] arguments) throws IOException {
		try {
			Arrivals arrivals = new Arrivals();
			Contender.valueOf(arguments[0])
				.start(new Place(arguments[1], Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]),
						Integer.parseInt(arguments[4])), arrivals);
			Figures.print("started", 1);
			Figures.serve((request) -> answer(request.split(" ", 3), arrivals));
		}
		catch (Throwable ex) {
			ex.printStackTrace();
			System.exit(1);
		}
	}

	/** Asks how many records of a range have come. */
	static String count(int from, int to) {
		return from + " " + to;
	}

	/** Asks that the latencies of a range are written. */
	static String write(int from, int to, Path file) {
		return from + " " + to + " " + file;
	}

	private static void answer(String[] words, Arrivals arrivals) {
		int from = Integer.parseInt(words[0]);
		int to = Integer.parseInt(words[1]);
		if (words.length > 2) {
			try {
				arrivals.write(Path.of(words[2]), from, to);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		Figures.print("count", arrivals.count(from, to), "compilation", Figures.compilationMillis());
	}

}
