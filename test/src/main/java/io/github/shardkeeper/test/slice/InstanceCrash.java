package io.github.shardkeeper.test.slice;

/** Unwinds what an instance was doing when it crashed. */
final class InstanceCrash extends Error {

	private static final long serialVersionUID = 1L;

	InstanceCrash() {
		super("crashed by the test", null, false, false);
	}

}
