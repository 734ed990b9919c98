package io.github.shardkeeper.benchmarks.moves;

import java.util.Set;

import io.github.shardkeeper.benchmarks.moves.group.Group;

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

	void run(Group group, GroupResults results) throws Exception {
		for (int i = 0; i < this.instances; i++) {
			group.start(1);
		}
		group.awaitBalance();
		group.warmUp(results.protocol().keepsShards());
		long begin = System.nanoTime();
		for (int i = 0; i < this.instances; i++) {
			replace(group, results);
		}
		group.awaitBalance();
		results.add(Event.ROLLING, group.since(begin));
	}

	private void replace(Group group, GroupResults results) throws Exception {
		String old = group.eldest();
		if (this.newFirst) {
			String name = group.start(NEXT_RELEASE);
			group.awaitConsuming(name);
			group.terminate(old);
			group.awaitConsuming(name);
		}
		else {
			Set<Integer> owned = group.ownedBy(old);
			long begin = System.nanoTime();
			group.terminate(old);
			String name = results.protocol().keepsShards() ? old : group.nextName();
			group.start(name, NEXT_RELEASE);
			group.awaitConsuming(name);
			if (results.protocol().keepsShards()) {
				results.add(Event.RESTART, group.since(begin).only(owned));
				results.addRestart((group.readyNanos(name) - begin) / 1e6);
			}
		}
	}

}
