package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.shardkeeper.benchmarks.moves.group.Group;
import io.github.shardkeeper.benchmarks.moves.group.Window;

/**
 * Events of a protocol's group, one after the other. Between two events it has two
 * instances, and is at rest. Immutable.
 *
 * @param events the events
 * @param rounds the number of joins and leaves, and of pauses
 * @param kills the number of kills
 * @param quietMillis the time without events
 * @param freezeMillis the time for which an instance is frozen, and for which the group
 * is observed after that: shards may move late
 */
record HandoverScenario(Set<Event> events, int rounds, int kills, long quietMillis, long freezeMillis) {

	private static final long PAUSE_MILLIS = 1000;

	/** So that joins do not keep step with our heartbeats. */
	private static final long LONGEST_REST_MILLIS = 500;

	/** Returns the events of a turn; the first turn has those that occur once. */
	HandoverScenario part(int turn, int turns) {
		Set<Event> happens = EnumSet.copyOf(this.events);
		if (turn > 0) {
			happens.remove(Event.FREEZE);
		}
		return new HandoverScenario(happens, Turns.part(this.rounds, turn, turns), Turns.part(this.kills, turn, turns),
				this.quietMillis, this.freezeMillis);
	}

	void run(Group group, GroupResults results) throws Exception {
		group.start(1);
		group.start(1);
		group.awaitBalance();
		group.warmUp(results.protocol().keepsShards());
		for (Event event : this.events) {
			switch (event) {
				case QUIET -> quiet(group, results);
				case JOIN -> joinAndLeave(group, results);
				case LEAVE -> {
					// With the joins.
				}
				case KILL -> kill(group, results);
				case FREEZE -> freeze(group, results);
				case PROCESS_PAUSE -> pause(group, results, event,
						(round) -> group.freeze((round % 2 == 0) ? group.youngest() : group.eldest(), PAUSE_MILLIS));
				case REDIS_PAUSE -> pause(group, results, event, (round) -> group.pauseServer(PAUSE_MILLIS));
				case ROLLING, RESTART -> throw new IllegalArgumentException("A benchmark of its own");
			}
		}
	}

	private void quiet(Group group, GroupResults results) throws Exception {
		long begin = System.nanoTime();
		TimeUnit.MILLISECONDS.sleep(this.quietMillis);
		results.add(Event.QUIET, group.since(begin));
	}

	private void joinAndLeave(Group group, GroupResults results) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(LONGEST_REST_MILLIS));
			long begin = System.nanoTime();
			group.start(1);
			group.awaitBalance();
			results.add(Event.JOIN, group.since(begin));
			begin = beginBetweenHeartbeats(results, round, this.rounds);
			group.terminate((round % 2 == 0) ? group.youngest() : group.eldest());
			group.awaitBalance();
			results.add(Event.LEAVE, group.since(begin));
		}
	}

	private void kill(Group group, GroupResults results) throws Exception {
		for (int i = 0; i < this.kills; i++) {
			group.start(1);
			group.awaitBalance();
			long begin = beginBetweenHeartbeats(results, i, this.kills);
			group.kill((i % 2 == 0) ? group.youngest() : group.eldest());
			group.awaitBalance();
			// What was repeated does not count for the next event.
			group.awaitCaughtUp();
			results.add(Event.KILL, group.since(begin));
		}
	}

	private void freeze(Group group, GroupResults results) throws Exception {
		long begin = beginBetweenHeartbeats(results, 0, 1);
		Set<Integer> frozen = group.ownedBy(group.eldest());
		if (frozen.isEmpty()) {
			throw new IllegalStateException("The instance that is to be frozen has no shards");
		}
		group.freeze(group.eldest(), this.freezeMillis);
		TimeUnit.MILLISECONDS.sleep(this.freezeMillis);
		group.awaitBalance();
		Window window = group.since(begin);
		results.add(Event.FREEZE, window.frozen(frozen));
		results.addStop(window);
	}

	private void pause(Group group, GroupResults results, Event event, Pause pause) throws Exception {
		for (int round = 0; round < this.rounds; round++) {
			long begin = beginBetweenHeartbeats(results, round, this.rounds);
			pause.happen(round);
			group.awaitBalance();
			group.awaitCaughtUp();
			Window window = group.since(begin);
			results.add(event, window);
			results.addStop(window);
		}
	}

	/**
	 * Kafka's members start counting again when shards were shared out, so what happens a
	 * fixed time later always finds them at the same place between two heartbeats. Every
	 * part of the time between two of them gets its share of the rounds.
	 */
	private static long beginBetweenHeartbeats(GroupResults results, int round, int rounds)
			throws InterruptedException {
		double place = (round + ThreadLocalRandom.current().nextDouble()) / rounds;
		TimeUnit.MILLISECONDS.sleep(Math.round(place * results.protocol().heartbeatMillis()));
		return System.nanoTime();
	}

	/** A process or a server is stopped for a while. */
	@FunctionalInterface
	private interface Pause {

		void happen(int round) throws Exception;

	}

}
