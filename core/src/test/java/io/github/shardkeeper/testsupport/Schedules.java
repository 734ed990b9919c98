package io.github.shardkeeper.testsupport;

/** How much is run of what is {@link MoreInProof}. */
public final class Schedules {

	private Schedules() {
	}

	/** Returns whether this is the proof. The build says so. */
	public static boolean inProof() {
		return Boolean.getBoolean("shardkeeper.proof");
	}

	/**
	 * The number of schedules, or of other steps, to run.
	 * @param property the system property that sets it
	 * @param ordinary how many the ordinary run has
	 * @param proof how many the proof has
	 */
	public static int count(String property, int ordinary, int proof) {
		return Integer.getInteger(property, inProof() ? proof : ordinary);
	}

}
