package io.github.shardkeeper.test;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * What a {@link FaultyProxy} does to connections. Immutable.
 *
 * @param effect what happens
 * @param roles to which connections
 * @param delay how late everything arrives, for {@link Effect#DELAY}
 */
public record Disturbance(Effect effect, Set<Role> roles, Duration delay) {

	public static final Set<Role> ALL = EnumSet.allOf(Role.class);

	static final Disturbance NONE = new Disturbance(Effect.NONE, ALL, Duration.ZERO);

	public static Disturbance refuse(Set<Role> roles) {
		return new Disturbance(Effect.REFUSE, roles, Duration.ZERO);
	}

	public static Disturbance hold(Set<Role> roles) {
		return new Disturbance(Effect.HOLD, roles, Duration.ZERO);
	}

	public static Disturbance delay(Duration delay) {
		return new Disturbance(Effect.DELAY, ALL, delay);
	}

	boolean is(Effect wanted, Role role) {
		return this.effect == wanted && this.roles.contains(role);
	}

	enum Effect {

		NONE,

		/** Connections are reset, new ones too. */
		REFUSE,

		/**
		 * A black hole: nothing arrives, not even that the other side has closed. What
		 * was sent arrives when the disturbance is over, as with TCP it would.
		 */
		HOLD,

		/** Everything arrives, but late. */
		DELAY

	}

	/** What a connection is for, as far as what was sent on it tells. */
	public enum Role {

		/** Events. */
		SUBSCRIPTION,

		/** Heartbeats, plans, releases. */
		CONTROL,

		/** Records and commits; also a connection of which nothing is known yet. */
		DATA

	}

}
