package io.github.shardkeeper.benchmarks.moves;

/**
 * Every instance of a group is replaced by one of the next release, one after the other.
 * Immutable.
 *
 * @param instances how many
 * @param rounds how often all are replaced
 * @param newFirst whether the new instance consumes before the old one is asked to end;
 * else it is started when the old one has ended
 */
record RollingCourse(int instances, int rounds, boolean newFirst) {

	void run(Contender contender, Group group, Findings findings) throws Exception {
		for (int i = 0; i < this.instances; i++) {
			group.start(1);
		}
		group.awaitBalance();
		for (int round = 0; round < this.rounds; round++) {
			long begin = System.nanoTime();
			for (int i = 0; i < this.instances; i++) {
				replace(contender, group, round + 2);
			}
			group.awaitBalance();
			findings.add(Event.ROLLING, group.since(begin));
		}
		findings.finish(group.finish(), group.failedCommits());
	}

	private void replace(Contender contender, Group group, int release) throws Exception {
		String old = group.eldest();
		if (this.newFirst) {
			String name = group.start(release);
			group.awaitConsuming(name);
			group.terminate(old);
			group.awaitConsuming(name);
		}
		else {
			group.terminate(old);
			String name = contender.staticMembers() ? old : group.nextName();
			group.start(name, release);
			group.awaitConsuming(name);
		}
	}

}
