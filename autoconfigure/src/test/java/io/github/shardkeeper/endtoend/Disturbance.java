package io.github.shardkeeper.endtoend;

import java.time.Duration;

/**
 * What a {@link FaultyProxy} does to connections. Immutable.
 *
 * @param effect what happens
 * @param scope to which connections
 * @param delay how late everything arrives, for {@link Effect#DELAY}
 */
record Disturbance(Effect effect, Scope scope, Duration delay) {

	static final Disturbance NONE = new Disturbance(Effect.NONE, Scope.ALL, Duration.ZERO);

	static Disturbance refuse(Scope scope) {
		return new Disturbance(Effect.REFUSE, scope, Duration.ZERO);
	}

	static Disturbance hold(Scope scope) {
		return new Disturbance(Effect.HOLD, scope, Duration.ZERO);
	}

	static Disturbance delay(Duration delay) {
		return new Disturbance(Effect.DELAY, Scope.ALL, delay);
	}

	boolean is(Effect wanted, boolean subscription) {
		return this.effect == wanted && (this.scope == Scope.ALL || subscription == (this.scope == Scope.SUBSCRIPTION));
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

	enum Scope {

		ALL,

		/** Connections on which {@code SUBSCRIBE} was sent. */
		SUBSCRIPTION,

		/** All but those. */
		OTHERS

	}

}
