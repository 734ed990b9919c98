package io.github.shardkeeper.testsupport;

/** How many schedules of a {@link Simulated} run. */
public final class Schedules {

	/** Whether this is the proof. The build says so. */
	private static final boolean IN_PROOF = Boolean.getBoolean("shardkeeper.proof");

	private Schedules() {
	}

	/**
	 * The number of schedules, or of other steps, to run.
	 * @param property the system property that sets it
	 * @param ordinary how many the ordinary run has
	 * @param proof how many the proof has
	 */
	public static int count(String property, int ordinary, int proof) {
		return Integer.getInteger(property, IN_PROOF ? proof : ordinary);
	}

}
