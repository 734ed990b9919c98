package io.github.shardkeeper.test;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * Disturbance of the connections through a {@link FaultyProxy}. Immutable.
 */
public final class Disturbance {

	/** All connections. */
	public static final Set<Role> ALL = Set.copyOf(EnumSet.allOf(Role.class));

	static final Disturbance NONE = new Disturbance(Effect.NONE, ALL, Duration.ZERO);

	private final Effect effect;

	private final Set<Role> roles;

	private final Duration delay;

	private Disturbance(Effect effect, Set<Role> roles, Duration delay) {
		this.effect = effect;
		this.roles = Set.copyOf(roles);
		this.delay = delay;
	}

	/**
	 * Resets connections, and every new one. Redis sees the same when a process is
	 * killed.
	 * @param roles the roles of the connections that are reset
	 * @return the disturbance
	 */
	public static Disturbance refuse(Set<Role> roles) {
		return new Disturbance(Effect.REFUSE, roles, Duration.ZERO);
	}

	/**
	 * Holds everything back: no data arrives, and no end of a connection. What was sent
	 * meanwhile arrives when the disturbance is over, as with TCP.
	 * @param roles the roles of the connections that are held
	 * @return the disturbance
	 */
	public static Disturbance hold(Set<Role> roles) {
		return new Disturbance(Effect.HOLD, roles, Duration.ZERO);
	}

	/**
	 * Delays everything on all connections, in both directions.
	 * @param delay the delay of each direction
	 * @return the disturbance
	 */
	public static Disturbance delay(Duration delay) {
		return new Disturbance(Effect.DELAY, ALL, delay);
	}

	boolean refuses(Role role) {
		return this.effect == Effect.REFUSE && this.roles.contains(role);
	}

	boolean holds(Role role) {
		return this.effect == Effect.HOLD && this.roles.contains(role);
	}

	/** Returns the delay of each direction, zero for none. */
	Duration delay() {
		return this.delay;
	}

	@Override
	public String toString() {
		return this.effect + " " + this.roles + " " + this.delay;
	}

	/**
	 * Role of a connection, as far as the commands sent on it show.
	 */
	public enum Role {

		/** Subscription to the notifications of the group. */
		SUBSCRIPTION,

		/** Control plane: heartbeats, plans, releases. */
		CONTROL,

		/**
		 * Data plane: records and commits. A connection on which nothing was sent yet has
		 * this role too.
		 */
		DATA

	}

	private enum Effect {

		NONE, REFUSE, HOLD, DELAY

	}

}
