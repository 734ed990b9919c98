package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Events of a contender's group, one after the other. Between two events it has two
 * instances, and is at rest. Immutable.
 *
 * @param events the events
 * @param rounds the number of joins and leaves
 * @param kills the number of kills
 * @param quietMillis the time without events
 * @param freezeMillis the time for which an instance is frozen
 * @param afterFreezeMillis the time of observation after that: shards may move late
 */
record HandoverScenario(Set<Event> events, int rounds, int kills, long quietMillis, long freezeMillis,
		long afterFreezeMillis) {

	/**
	 * As long as a very bad pause for garbage collection, and longer than the time
	 * between two heartbeats of Kafka's older protocols, so that one falls due meanwhile:
	 * it is sent late, and from then on they are as much later than those of others.
	 */
	private static final long STALL_MILLIS = 3500;

	/** So that joins do not keep step with our heartbeats. */
	private static final long LONGEST_PAUSE_MILLIS = 500;

	/** Returns the events of a turn; the first turn has those that occur once. */
	HandoverScenario part(int turn, int turns) {
		Set<Event> happens = EnumSet.copyOf(this.events);
		if (turn > 0) {
			happens.remove(Event.FREEZE);
		}
		return new HandoverScenario(happens, Rotation.part(this.rounds, turn, turns),
				Rotation.part(this.kills, turn, turns), this.quietMillis, this.freezeMillis, this.afterFreezeMillis);
	}

	void run(Group group, ContenderResults results) throws Exception {
		group.start(1);
		group.start(1);
		group.awaitBalance();
		group.warmUp();
		for (Event event : this.events) {
			switch (event) {
				case QUIET -> quiet(group, results);
				case BYSTANDER -> bystander(group, results);
				case JOIN -> joinAndLeave(group, results);
				case LEAVE -> {
					// With the joins.
				}
				case STALLED_JOIN -> stalledJoin(group, results);
				case WARM_JOIN -> warmJoin(group, results);
				case KILL -> kill(group, results);
				case FREEZE -> freeze(group, results);
				case PROCESS_STALL, REDIS_STALL, ROLLING, RESTART ->
					throw new IllegalArgumentException("A benchmark of its own");
			}
		}
	}

	private void quiet(Group group, ContenderResults results) throws Exception {
		long begin = System.nanoTime();
		Thread.sleep(this.quietMillis);
		results.add(Event.QUIET, group.since(begin));
	}

	private void bystander(Group group, ContenderResults results) throws Exception {
		long begin = begin();
		String name = group.startBystander();
		Thread.sleep(this.quietMillis);
		results.add(Event.BYSTANDER, group.since(begin));
		group.kill(name);
	}

	private void joinAndLeave(Group group, ContenderResults results) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			join(group, results, Event.JOIN);
			leave(group, results, round);
		}
	}

	private static void join(Group group, ContenderResults results, Event event) throws Exception {
		long begin = begin();
		group.start(1);
		group.awaitBalance();
		results.add(event, group.since(begin));
	}

	private void leave(Group group, ContenderResults results, int round) throws Exception {
		long begin = beginBetweenHeartbeats(results, round, this.rounds);
		group.terminate((round % 2 == 0) ? group.youngest() : group.eldest());
		group.awaitBalance();
		results.add(Event.LEAVE, group.since(begin));
	}

	private static void stalledJoin(Group group, ContenderResults results) throws Exception {
		long begin = System.nanoTime();
		group.freeze(group.eldest(), STALL_MILLIS);
		group.awaitBalance();
		results.addStop(group.since(begin));
		join(group, results, Event.STALLED_JOIN);
		group.terminate(group.youngest());
		group.awaitBalance();
	}

	private void warmJoin(Group group, ContenderResults results) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			long begin = begin();
			group.startWarm();
			group.awaitBalance();
			results.add(Event.WARM_JOIN, group.since(begin));
			group.terminate(group.youngest());
			group.awaitBalance();
		}
	}

	private void kill(Group group, ContenderResults results) throws Exception {
		for (int i = 0; i < this.kills; i++) {
			group.start(1);
			group.awaitBalance();
			long begin = beginBetweenHeartbeats(results, i, this.kills);
			group.kill((i % 2 == 0) ? group.youngest() : group.eldest());
			group.awaitBalance();
			results.add(Event.KILL, group.since(begin));
		}
	}

	private void freeze(Group group, ContenderResults results) throws Exception {
		long begin = beginBetweenHeartbeats(results, 0, 1);
		Set<Integer> frozen = group.ownedBy(group.eldest());
		if (frozen.isEmpty()) {
			throw new IllegalStateException("The instance that is to be frozen has no shards");
		}
		group.freeze(group.eldest(), this.freezeMillis);
		Thread.sleep(this.afterFreezeMillis);
		group.awaitBalance();
		Window window = group.since(begin);
		results.add(Event.FREEZE, window.frozen(frozen));
		results.addStop(window);
	}

	/**
	 * Kafka's members start counting again when shards were shared out, so what happens a
	 * fixed time later always finds them at the same place between two heartbeats. Every
	 * part of the time between two of them gets its share of the rounds.
	 */
	static long beginBetweenHeartbeats(ContenderResults results, int round, int rounds) throws InterruptedException {
		double place = (round + ThreadLocalRandom.current().nextDouble()) / rounds;
		Thread.sleep(Math.round(place * results.contender().heartbeatMillis()));
		return System.nanoTime();
	}

	private static long begin() throws InterruptedException {
		Thread.sleep(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_MILLIS));
		return System.nanoTime();
	}

}
