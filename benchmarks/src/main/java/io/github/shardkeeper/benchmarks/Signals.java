package io.github.shardkeeper.benchmarks;

import java.io.IOException;

/**
 * Signals to processes. Has no state.
 */
public final class Signals {

	private Signals() {
	}

	/**
	 * {@code SIGSTOP}, and {@code SIGCONT} after a time.
	 * @param process the process
	 * @param millis the time
	 * @throws IOException when there is no command {@code kill}
	 * @throws InterruptedException when the thread is interrupted
	 */
	public static void stall(Process process, long millis) throws IOException, InterruptedException {
		send(process, "STOP");
		try {
			Thread.sleep(millis);
		}
		finally {
			send(process, "CONT");
		}
	}

	private static void send(Process process, String signal) throws IOException, InterruptedException {
		String pid = Long.toString(process.pid());
		if (new ProcessBuilder("kill", "-" + signal, pid).start().waitFor() != 0) {
			throw new IllegalStateException("kill -%s %s failed".formatted(signal, pid));
		}
	}

}
