package io.github.shardkeeper.simulation;

/** Unwinds what a process was doing when it was killed. */
final class SimulatedCrash extends Error {

	SimulatedCrash() {
		super("killed", null, false, false);
	}

}
