package io.github.shardkeeper.benchmarks.moves;

/**
 * Crashes and pauses of a group of two instances. Immutable.
 *
 * @param quietMillis the time without events
 * @param kills the number of crashes, each of a third instance or of the eldest
 * @param stalls the number of pauses of a process, and again of Redis
 */
record LeasesScenario(long quietMillis, int kills, int stalls) {

	/** A long pause of a garbage collector, and a slow script of Redis. */
	private static final long STALL_MILLIS = 1000;

	/** Returns the events of a turn. */
	LeasesScenario part(int turn, int turns) {
		return new LeasesScenario(this.quietMillis, Rotation.part(this.kills, turn, turns),
				Rotation.part(this.stalls, turn, turns));
	}

	void run(Group group, ContenderResults results) throws Exception {
		group.start(1);
		group.start(1);
		group.awaitBalance();
		group.warmUp();
		observe(group, results, Event.QUIET, 0, 1, () -> Thread.sleep(this.quietMillis));
		for (int i = 0; i < this.kills; i++) {
			String youngest = group.start(1);
			group.awaitBalance();
			String killed = (i % 2 == 0) ? youngest : group.eldest();
			observe(group, results, Event.KILL, i, this.kills, () -> group.kill(killed));
		}
		for (int i = 0; i < this.stalls; i++) {
			String stalled = (i % 2 == 0) ? group.youngest() : group.eldest();
			observe(group, results, Event.PROCESS_STALL, i, this.stalls, () -> group.freeze(stalled, STALL_MILLIS));
		}
		for (int i = 0; i < this.stalls; i++) {
			observe(group, results, Event.REDIS_STALL, i, this.stalls, () -> group.stallServer(STALL_MILLIS));
		}
	}

	/** An event in its part of the time between two heartbeats, until all is at rest. */
	private static void observe(Group group, ContenderResults results, Event event, int round, int rounds, Act act)
			throws Exception {
		LeaseCounts before = group.leaseCounts();
		long begin = HandoverScenario.beginBetweenHeartbeats(results, round, rounds);
		act.happen();
		group.awaitBalance();
		group.awaitCaughtUp();
		results.add(event, group.since(begin));
		results.add(event, group.leaseCounts().minus(before));
	}

	/** What happens to the group. */
	@FunctionalInterface
	private interface Act {

		void happen() throws Exception;

	}

}
