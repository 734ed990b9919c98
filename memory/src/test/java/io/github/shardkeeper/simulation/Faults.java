package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.simulation.SimulatedNetwork.Way;

/** The faults that a simulation injects. */
final class Faults {

	private static final int KINDS = 19;

	private static final Duration LEAVING = Duration.ofSeconds(4);

	private static final Duration BETWEEN_PAUSES = Duration.ofSeconds(1);

	private final Simulation simulation;

	private final SimulatedGroup group;

	private final RandomGenerator random;

	/** One kind in a schedule: two of them together may well be the death of a member. */
	private final int harmlessKind;

	/**
	 * Whether records are put aside. What a store has lost of that nobody can write back.
	 */
	private final boolean putsAside;

	/** Whether the store's clock was. */
	private boolean setBack;

	private boolean writesLost;

	Faults(Simulation simulation, SimulatedGroup group, RandomGenerator random, boolean putsAside) {
		this.putsAside = putsAside;
		this.simulation = simulation;
		this.group = group;
		this.random = random;
		this.harmlessKind = random.nextInt(6);
	}

	/** One of them. */
	void next() {
		List<SimulatedInstance> members = this.group.members();
		if (members.isEmpty()) {
			this.group.startInstance();
			return;
		}
		SimulatedInstance one = members.get(this.random.nextInt(members.size()));
		switch (this.random.nextInt(KINDS)) {
			case 0 -> crash(one);
			case 1 -> crashOfLeaderAndMember(one);
			case 2 -> powerLoss(one);
			case 3 -> freeze(one, "short pause", 50, 2500);
			case 4 -> freeze(one, "long pause", 3000, 9000);
			case 5 -> cut(one, "cut", Way.values());
			case 6 -> cut(one, "cut of events", Way.EVENTS);
			case 7 -> cut(one, "cut of heartbeats", Way.CONTROL);
			case 8 -> cut(one, "cut of checkpoints", Way.DATA);
			case 9 -> storeRestart();
			case 10 -> clockJump();
			case 11 -> leave(one);
			case 12 -> join();
			case 13 -> rollingRestart(members);
			case 14 -> storeEmptied();
			case 15 -> failover();
			case 16 -> smallSteps();
			case 17 -> cutOffWhileTheClockSteps(one);
			case 18 -> storeRestartsEmpty();
			default -> throw new IllegalStateException();
		}
	}

	/** One that must not move a shard. */
	void harmless() {
		List<SimulatedInstance> members = this.group.members();
		SimulatedInstance one = members.get(this.random.nextInt(members.size()));
		switch (this.harmlessKind) {
			case 0 -> pauseShortly(one);
			case 1 -> cut(one, "cut of events", Way.EVENTS);
			case 2 -> cut(one, "cut of checkpoints", Way.DATA);
			case 3 -> storeRestart();
			case 4 -> clockJump();
			case 5 -> smallSteps();
			default -> throw new IllegalStateException();
		}
	}

	/** No fault: a shard is reset to its beginning. */
	void reset() {
		List<ShardId> shards = List.copyOf(this.group.topic().ends().keySet());
		ShardId shard = shards.get(this.random.nextInt(shards.size()));
		this.simulation.fault("reset", Duration.ZERO);
		this.group.reset(shard);
	}

	/** Pauses without a heartbeat between them are a long one. */
	private void pauseShortly(SimulatedInstance one) {
		if (!one.process.wasFrozenSince(this.group.now() - BETWEEN_PAUSES.toNanos())) {
			freeze(one, "short pause", 50, 2500);
		}
	}

	private void crash(SimulatedInstance one) {
		this.simulation.fault("crash", Duration.ZERO);
		one.die();
		restartAfterAWhile();
	}

	private void restartAfterAWhile() {
		if (this.random.nextBoolean() || this.group.members().isEmpty()) {
			int pause = this.random.nextInt(4000);
			this.simulation.fault("restart", Duration.ofMillis(pause));
			this.group.in(pause, this.group::startInstance);
		}
	}

	private void crashOfLeaderAndMember(SimulatedInstance one) {
		SimulatedInstance leader = this.group.leader();
		this.simulation.fault("crash of leader and member", Duration.ZERO);
		if (leader != null && leader.isAlive()) {
			leader.die();
		}
		if (one.isAlive()) {
			one.die();
		}
		restartAfterAWhile();
	}

	/** The connections stay open. */
	private void powerLoss(SimulatedInstance one) {
		this.simulation.fault("power loss", SimulatedGroup.TIMEOUT);
		one.process.crash();
		this.group.in(SimulatedGroup.TIMEOUT.toMillis() * 2, one.link::processDied);
		restartAfterAWhile();
	}

	private void freeze(SimulatedInstance one, String kind, int shortest, int longest) {
		Duration duration = Duration.ofMillis(this.random.nextInt(shortest, longest));
		this.simulation.fault(kind, duration);
		one.process.freeze(duration);
	}

	private void cut(SimulatedInstance one, String kind, Way... ways) {
		Duration duration = Duration.ofMillis(this.random.nextInt(100, 8000));
		this.simulation.fault(kind, duration);
		for (Way way : ways) {
			one.link.cut(way, duration);
		}
	}

	private void storeRestart() {
		Duration duration = Duration.ofMillis(this.random.nextInt(50, 8000));
		this.simulation.fault("restart of the store", duration);
		this.group.network().restartStore(duration);
	}

	/**
	 * Not together with a clock that is set back: a store that has lost what it knew has
	 * nothing else to tell which tokens are high enough.
	 */
	private void storeEmptied() {
		if (this.setBack) {
			return;
		}
		this.writesLost = true;
		this.simulation.fault("emptied store", SimulatedGroup.LEASE);
		this.group.storeEmptied();
		if (this.random.nextBoolean()) {
			this.group.network().restartStore(Duration.ofMillis(this.random.nextInt(20, 2000)));
		}
	}

	/** Also for so long that the leases have ended. */
	private void storeRestartsEmpty() {
		if (this.setBack) {
			return;
		}
		this.writesLost = true;
		Duration away = Duration.ofMillis(this.random.nextInt(1500, 8000));
		this.simulation.fault("restart of an emptied store", away.plus(SimulatedGroup.LEASE.multipliedBy(2)));
		this.group.storeRestartsEmpty(away);
	}

	private void failover() {
		if (this.setBack) {
			return;
		}
		this.writesLost = true;
		Duration lost = Duration.ofMillis(this.random.nextInt(1, 500));
		Duration away = Duration.ofMillis(this.random.nextInt(20, 5000));
		this.simulation.fault("failover that loses writes", lost.plus(away).plus(SimulatedGroup.LEASE));
		this.group.failOver(lost, away);
	}

	private void clockJump() {
		int millis = this.random.nextInt(4) == 0 ? 3_600_000 : this.random.nextInt(500, 20_000);
		this.simulation.fault("jump of the store's clock", Duration.ZERO);
		// One that is set back has records wait longer in the retry queue.
		boolean back = mayBeSetBack() && !this.putsAside;
		this.setBack |= back;
		this.group.storeClockJumps(Duration.ofMillis(back ? -millis : millis));
	}

	/**
	 * Steps of less than a second, as a time service makes them: one, several that add
	 * up, or one there and back again, perhaps between two heartbeats.
	 */
	private void smallSteps() {
		long first = smallStep();
		this.setBack |= first < 0;
		long second = switch (this.random.nextInt(3)) {
			case 0 -> 0;
			case 1 -> (first < 0 || !this.writesLost) ? -first : 0;
			default -> smallStep();
		};
		this.setBack |= second < 0;
		long between = this.random.nextInt(10, 1500);
		this.simulation.fault("small steps of the store's clock", Duration.ofMillis(between));
		this.group.storeClockJumps(Duration.ofMillis(first));
		this.group.in(between, () -> this.group.storeClockJumps(Duration.ofMillis(second)));
	}

	private long smallStep() {
		long millis = this.random.nextInt(20, 1100);
		boolean back = mayBeSetBack();
		return back ? -millis : millis;
	}

	private boolean mayBeSetBack() {
		return this.random.nextBoolean() && !this.writesLost;
	}

	/**
	 * Its lease is all that keeps it from consuming beside its heir, and the store's
	 * clock ends it early.
	 */
	private void cutOffWhileTheClockSteps(SimulatedInstance one) {
		this.group.in(this.random.nextInt(1500), this::smallSteps);
		this.group.in(this.random.nextInt(1500), () -> cut(one, "cut", Way.CONTROL, Way.EVENTS));
	}

	private void leave(SimulatedInstance one) {
		this.simulation.fault("leave", LEAVING);
		this.group.leave(one, LEAVING);
		restartAfterAWhile();
	}

	private void join() {
		this.simulation.fault("join", Duration.ZERO);
		this.group.startInstance();
	}

	private void rollingRestart(List<SimulatedInstance> members) {
		this.simulation.fault("rolling restart", Duration.ofMillis(1000L * members.size()).plus(LEAVING));
		for (int i = 0; i < members.size(); i++) {
			SimulatedInstance member = members.get(i);
			this.group.in(1000L * i, () -> {
				if (member.isMember()) {
					this.group.leave(member, LEAVING);
				}
			});
			this.group.in(1000L * i + this.random.nextInt(1500), this.group::startInstance);
		}
	}

}
