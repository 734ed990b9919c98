package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Restarts in place during a simulation: in time, too late, of all, and of two at once.
 */
final class Restarts {

	private static final Duration LEAVING = Duration.ofSeconds(4);

	private final Simulation simulation;

	private final SimulatedGroup group;

	private final RandomGenerator random;

	private final Duration awayTimeout;

	Restarts(Simulation simulation, SimulatedGroup group, RandomGenerator random, Duration awayTimeout) {
		this.simulation = simulation;
		this.group = group;
		this.random = random;
		this.awayTimeout = awayTimeout;
	}

	/** Does one of them. */
	void next() {
		List<SimulatedInstance> members = this.group.members();
		if (members.isEmpty()) {
			return;
		}
		SimulatedInstance one = members.get(this.random.nextInt(members.size()));
		switch (this.random.nextInt(8)) {
			case 0 ->
				restart(one, "restart in place, too late", this.awayTimeout.plusMillis(this.random.nextInt(2000)));
			case 1 -> members.forEach((member) -> restart(member, "restart in place of all", shortPause()));
			case 2 -> secondProcess(one);
			case 3 -> crashWhileLeaving(one);
			default -> restart(one, "restart in place", shortPause());
		}
	}

	private Duration shortPause() {
		return Duration.ofMillis(this.random.nextLong(this.awayTimeout.toMillis()));
	}

	private void restart(SimulatedInstance one, String kind, Duration pause) {
		this.simulation.fault(kind, LEAVING.plus(pause));
		// One that is frozen leaves later.
		this.group.restart(one, LEAVING, pause, () -> this.simulation.fault("return", pause));
	}

	/** It waits until the first one has ended, unless it gives up before. */
	private void secondProcess(SimulatedInstance first) {
		int together = this.random.nextInt(3000);
		boolean gives = this.random.nextBoolean();
		this.simulation.fault("second process under an instance id", Duration.ofMillis(together));
		SimulatedInstance second = this.group.startInstance(first.toString());
		this.group.in(together, () -> {
			SimulatedInstance ends = gives ? second : first;
			if (ends.isAlive()) {
				ends.die();
			}
		});
	}

	private void crashWhileLeaving(SimulatedInstance one) {
		this.simulation.fault("crash during a restart in place", LEAVING.multipliedBy(2));
		this.group.leave(one, LEAVING);
		this.group.in(this.random.nextInt(300), () -> {
			if (one.isAlive()) {
				one.die();
			}
		});
		this.group.in(LEAVING.toMillis() + this.random.nextInt(4000), () -> this.group.startInstance(one.toString()));
	}

}
