package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What happens to a contender's group, one event after the other. Between two events it
 * has two instances, and is at rest. Immutable.
 *
 * @param events which ones
 * @param rounds how often an instance joins and leaves
 * @param kills how often one is killed
 * @param quietMillis how long nothing happens
 * @param freezeMillis how long an instance is frozen
 * @param afterFreezeMillis how long it is looked at after that: shards may move late
 */
record HandoverCourse(Set<Event> events, int rounds, int kills, long quietMillis, long freezeMillis,
		long afterFreezeMillis) {

	/**
	 * As long as a very bad pause for garbage collection, and longer than the time
	 * between two heartbeats of Kafka's older protocols, so that one falls due meanwhile:
	 * it is sent late, and from then on they are as much later than those of others.
	 */
	private static final long STALL_MILLIS = 3500;

	/** So that joins do not keep step with our heartbeats. */
	private static final long LONGEST_PAUSE_MILLIS = 500;

	/** What of it happens in a lap: what happens only once, in the first. */
	HandoverCourse part(int lap, int laps) {
		Set<Event> happens = EnumSet.copyOf(this.events);
		if (lap > 0) {
			happens.remove(Event.FREEZE);
		}
		return new HandoverCourse(happens, Laps.part(this.rounds, lap, laps), Laps.part(this.kills, lap, laps),
				this.quietMillis, this.freezeMillis, this.afterFreezeMillis);
	}

	void run(Group group, Findings findings) throws Exception {
		group.start(1);
		group.start(1);
		group.awaitBalance();
		group.warmUp();
		for (Event event : this.events) {
			switch (event) {
				case QUIET -> quiet(group, findings);
				case BYSTANDER -> bystander(group, findings);
				case JOIN -> joinAndLeave(group, findings);
				case LEAVE -> {
					// With the joins.
				}
				case STALLED_JOIN -> stalledJoin(group, findings);
				case WARM_JOIN -> warmJoin(group, findings);
				case KILL -> kill(group, findings);
				case FREEZE -> freeze(group, findings);
				case ROLLING -> throw new IllegalArgumentException("A benchmark of its own");
			}
		}
	}

	private void quiet(Group group, Findings findings) throws Exception {
		long begin = System.nanoTime();
		Thread.sleep(this.quietMillis);
		findings.add(Event.QUIET, group.since(begin));
	}

	private void bystander(Group group, Findings findings) throws Exception {
		long begin = begin();
		String name = group.startBystander();
		Thread.sleep(this.quietMillis);
		findings.add(Event.BYSTANDER, group.since(begin));
		group.kill(name);
	}

	private void joinAndLeave(Group group, Findings findings) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			join(group, findings, Event.JOIN);
			leave(group, findings, round);
		}
	}

	private static void join(Group group, Findings findings, Event event) throws Exception {
		long begin = begin();
		group.start(1);
		group.awaitBalance();
		findings.add(event, group.since(begin));
	}

	private void leave(Group group, Findings findings, int round) throws Exception {
		long begin = beginBetweenHeartbeats(findings, round, this.rounds);
		group.terminate((round % 2 == 0) ? group.youngest() : group.eldest());
		group.awaitBalance();
		findings.add(Event.LEAVE, group.since(begin));
	}

	private static void stalledJoin(Group group, Findings findings) throws Exception {
		group.freeze(group.eldest(), STALL_MILLIS);
		group.awaitBalance();
		join(group, findings, Event.STALLED_JOIN);
		group.terminate(group.youngest());
		group.awaitBalance();
	}

	private void warmJoin(Group group, Findings findings) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			long begin = begin();
			group.startWarm();
			group.awaitBalance();
			findings.add(Event.WARM_JOIN, group.since(begin));
			group.terminate(group.youngest());
			group.awaitBalance();
		}
	}

	private void kill(Group group, Findings findings) throws Exception {
		for (int i = 0; i < this.kills; i++) {
			group.start(1);
			group.awaitBalance();
			long begin = beginBetweenHeartbeats(findings, i, this.kills);
			group.kill((i % 2 == 0) ? group.youngest() : group.eldest());
			group.awaitBalance();
			findings.add(Event.KILL, group.since(begin));
		}
	}

	private void freeze(Group group, Findings findings) throws Exception {
		long begin = beginBetweenHeartbeats(findings, 0, 1);
		Set<Integer> frozen = group.ownedBy(group.eldest());
		if (frozen.isEmpty()) {
			throw new IllegalStateException("The instance that is to be frozen has no shards");
		}
		group.freeze(group.eldest(), this.freezeMillis);
		Thread.sleep(this.afterFreezeMillis);
		group.awaitBalance();
		findings.add(Event.FREEZE, group.since(begin).frozen(frozen));
	}

	/**
	 * Kafka's members begin to count anew when shards were shared out, so what happens a
	 * fixed time later always finds them at the same place between two heartbeats. Every
	 * part of the time between two of them gets its share of the rounds.
	 */
	private static long beginBetweenHeartbeats(Findings findings, int round, int rounds) throws InterruptedException {
		double place = (round + ThreadLocalRandom.current().nextDouble()) / rounds;
		Thread.sleep(Math.round(place * findings.contender().heartbeatMillis()));
		return System.nanoTime();
	}

	private static long begin() throws InterruptedException {
		Thread.sleep(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_MILLIS));
		return System.nanoTime();
	}

}
