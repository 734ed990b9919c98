package io.github.shardkeeper.simulation;

import io.github.shardkeeper.testsupport.SilentLogs;

/**
 * Runs schedules and prints their outcomes, for comparison with those of another JVM.
 * Arguments: the first seed, and the number of schedules.
 */
final class OutcomePrinter {

	private OutcomePrinter() {
	}

	public static void main(String[] arguments) {
		long first = Long.parseLong(arguments[0]);
		long count = Long.parseLong(arguments[1]);
		SilentLogs.begin();
		try (SimulatedGroup.Host host = new SimulatedGroup.Host()) {
			for (long seed = first; seed < first + count; seed++) {
				System.out.println(line(seed, host));
			}
		}
	}

	static String line(long seed, SimulatedGroup.Host host) {
		return "Seed " + seed + ": " + host.run(seed, Tampering.NONE, false);
	}

}
