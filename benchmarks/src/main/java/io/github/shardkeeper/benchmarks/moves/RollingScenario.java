package io.github.shardkeeper.benchmarks.moves;

/**
 * Every instance of a group is replaced by one of the next release, one after the other.
 * Immutable.
 *
 * @param instances the number of instances
 * @param newFirst whether the new instance consumes before the old one is asked to end;
 * else it is started when the old one has ended
 */
record RollingScenario(int instances, boolean newFirst) {

	private static final int NEXT_RELEASE = 2;

	void run(Group group, ContenderResults results) throws Exception {
		for (int i = 0; i < this.instances; i++) {
			group.start(1);
		}
		group.awaitBalance();
		group.warmUp();
		long begin = System.nanoTime();
		for (int i = 0; i < this.instances; i++) {
			replace(results.contender(), group);
		}
		group.awaitBalance();
		results.add(Event.ROLLING, group.since(begin));
	}

	private void replace(Contender contender, Group group) throws Exception {
		String old = group.eldest();
		if (this.newFirst) {
			String name = group.start(NEXT_RELEASE);
			group.awaitConsuming(name);
			group.terminate(old);
			group.awaitConsuming(name);
		}
		else {
			group.terminate(old);
			String name = contender.staticMembers() ? old : group.nextName();
			group.start(name, NEXT_RELEASE);
			group.awaitConsuming(name);
		}
	}

}
