package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.LockUser;
import io.github.shardkeeper.cluster.memory.MemoryLockStore;
import io.github.shardkeeper.cluster.memory.MemoryLocks;
import io.github.shardkeeper.shard.Token;

/**
 * A simulation of locks: users ask for two locks again and again. At every acquisition no
 * other holder may believe that it holds the same lock, and the token is higher than all
 * before. After the last fault everybody has two more turns.
 */
final class LockSimulation extends ToolSimulation {

	private static final List<String> LOCKS = List.of("red", "blue");

	private static final int USERS = 2;

	private final LockStore locks = new MemoryLockStore(this.cluster);

	private final List<User> users = new ArrayList<>();

	private final Map<String, List<Turn>> turns = new HashMap<>();

	private final Map<String, Token> lastTokens = new HashMap<>();

	private int acquisitions;

	private int excused;

	LockSimulation(long seed, VirtualTime time) {
		super(seed, time);
		LOCKS.forEach((lock) -> this.turns.put(lock, new ArrayList<>()));
	}

	int acquisitions() {
		return this.acquisitions;
	}

	/**
	 * Returns the number of acquisitions beside a holder whose own was lost by a
	 * failover, or shortened by a step of the store's clock.
	 */
	int excused() {
		return this.excused;
	}

	@Override
	void begin(Instance instance) {
		LockUser client = new LockUser(instance.session, instance.reach(LockStore.class, this.locks));
		for (int i = 0; i < USERS; i++) {
			User user = new User(instance, client, instance + "." + i);
			this.users.add(user);
			user.ask();
		}
	}

	@Override
	List<?> waiting() {
		return this.users.stream()
			.filter((user) -> members().contains(user.instance) && user.turnsAfterTheEnd < 2)
			.toList();
	}

	@Override
	String describe() {
		return LOCKS.stream()
			.map((lock) -> lock + " " + this.store.transition((group) -> MemoryLocks.describe(group, lock)))
			.toList()
			.toString();
	}

	/** An acquisition. */
	private static final class Turn {

		private final User user;

		private final LockUser.Held held;

		private final long since;

		/** Whether it is held for a limited time. */
		private final boolean limited;

		Turn(User user, LockUser.Held held, long since, boolean limited) {
			this.limited = limited;
			this.user = user;
			this.held = held;
			this.since = since;
		}

	}

	private void begun(String lock, Turn turn) {
		this.acquisitions++;
		for (Turn other : this.turns.get(lock)) {
			if (!other.user.instance.process.isCrashed() && other.held.isHeld()) {
				// The most time to hold a lock is measured by the store's clock.
				boolean shortened = other.limited && this.clockSetAt >= other.since;
				if (shortened || other.since >= this.lostFrom && other.since <= this.lostUntil) {
					this.excused++;
				}
				else {
					this.time.fail(new AssertionError("%s holds the lock '%s' under %s since %d, and %s got it under %s"
						.formatted(other.user, lock, other.held.token(), other.since, turn.user, turn.held.token())));
				}
			}
		}
		Token last = this.lastTokens.getOrDefault(lock, Token.NONE);
		if (turn.held.token().compareTo(last) <= 0) {
			this.time.fail(new AssertionError(
					"%s got the lock '%s' under %s after %s".formatted(turn.user, lock, turn.held.token(), last)));
		}
		this.lastTokens.put(lock, turn.held.token());
		this.turns.get(lock).add(turn);
	}

	/** Asks for a lock, works under it, releases it, and so on. */
	private final class User {

		private final Instance instance;

		private final LockUser locks;

		private final String name;

		private int turnsAfterTheEnd;

		private LockUser.@Nullable Attempt attempt;

		private String lock = "";

		private Duration atMost = Duration.ZERO;

		private boolean busy;

		User(Instance instance, LockUser locks, String name) {
			this.instance = instance;
			this.locks = locks;
			this.name = name;
		}

		void ask() {
			this.lock = LOCKS.get(LockSimulation.this.random.nextInt(LOCKS.size()));
			this.atMost = (LockSimulation.this.random.nextInt(5) == 0) ? Duration.ofMillis(500) : Duration.ZERO;
			this.attempt = this.locks.begin(this.lock, this.atMost, () -> this.instance.later(0, this::step));
			step();
		}

		private void step() {
			LockUser.Attempt current = this.attempt;
			if (current == null || this.busy) {
				return;
			}
			this.busy = true;
			LockUser.Held held = null;
			try {
				held = current.attempt();
			}
			catch (StoreUnavailableException ex) {
				// Asked again at its time.
			}
			finally {
				this.busy = false;
			}
			if (held != null) {
				this.attempt = null;
				work(held);
			}
			else if (!LockSimulation.this.ending && LockSimulation.this.random.nextInt(40) == 0) {
				this.attempt = null;
				current.giveUp();
				this.instance.later(LockSimulation.this.random.nextInt(300), this::ask);
			}
			else if (current.isWoken()) {
				this.instance.later(0, this::step);
			}
			else if (current.attemptAt() != null) {
				this.instance.later(this.instance.millisUntil(current.attemptAt()), this::step);
			}
		}

		private void work(LockUser.Held held) {
			String name = this.lock;
			Turn turn = new Turn(this, held, LockSimulation.this.time.now(), !this.atMost.isZero());
			begun(name, turn);
			int millis = (LockSimulation.this.random.nextInt(10) == 0) ? LockSimulation.this.random.nextInt(4000)
					: LockSimulation.this.random.nextInt(300);
			this.instance.later(millis, () -> {
				LockSimulation.this.turns.get(name).remove(turn);
				held.release();
				if (LockSimulation.this.ending) {
					this.turnsAfterTheEnd++;
				}
				this.instance.later(LockSimulation.this.random.nextInt(200), this::ask);
			});
		}

		@Override
		public String toString() {
			return this.name + ((this.attempt != null) ? " waits for " : " holds ") + this.lock;
		}

	}

}
