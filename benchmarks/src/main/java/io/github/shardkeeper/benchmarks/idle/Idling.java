package io.github.shardkeeper.benchmarks.idle;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.Heap;

/**
 * What a process that does nothing tells about itself when it is asked. Has no state.
 */
final class Idling {

	private Idling() {
	}

	/** First says that it has come to rest. */
	static void tell() throws IOException {
		ChildProcess.Figures.tell("uptime", ManagementFactory.getRuntimeMXBean().getUptime());
		ChildProcess.Figures.serve(() -> ChildProcess.Figures.tell("heap", Heap.used(), "threads",
				ManagementFactory.getThreadMXBean().getThreadCount()));
	}

}
