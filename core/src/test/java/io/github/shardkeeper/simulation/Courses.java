package io.github.shardkeeper.simulation;

/**
 * Runs some courses and prints how each of them went, so that another JVM can be asked
 * for them. Arguments: the first seed, and how many.
 */
final class Courses {

	private Courses() {
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
