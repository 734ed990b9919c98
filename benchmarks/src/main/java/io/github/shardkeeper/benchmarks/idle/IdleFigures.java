package io.github.shardkeeper.benchmarks.idle;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.Heap;

/**
 * Figures of an idle process, on request. Has no state.
 */
final class IdleFigures {

	private IdleFigures() {
	}

	/** Reports that the process is at rest, then answers requests. */
	static void tell() throws IOException {
		ChildProcess.Figures.print("uptime", ManagementFactory.getRuntimeMXBean().getUptime());
		ChildProcess.Figures.serve(() -> ChildProcess.Figures.print("heap", Heap.used(), "threads",
				ManagementFactory.getThreadMXBean().getThreadCount()));
	}

}
