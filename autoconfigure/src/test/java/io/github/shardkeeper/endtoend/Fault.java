package io.github.shardkeeper.endtoend;

import java.time.Duration;

/**
 * Something that goes wrong. Immutable.
 *
 * @param kind what
 * @param instance to which instance, counted from 0; means nothing where it concerns all
 * @param toLeader whether to the group's leader instead, if there is one at that time
 * @param length for how long
 */
record Fault(Kind kind, int instance, boolean toLeader, Duration length) {

	enum Kind {

		/** {@code kill -9} of an instance, started again later. */
		KILL(500, 6000, Concerns.PROCESS, true),

		/** {@code SIGSTOP} for less than the session timeout. */
		SHORT_FREEZE(500, 3500, Concerns.PROCESS, false),

		/** {@code SIGSTOP} until the shards have moved away, and for this long more. */
		LONG_FREEZE(300, 2000, Concerns.PROCESS, true),

		/** {@code SIGTERM} to one instance after the other, each started again. */
		ROLLING_RESTART(0, 0, Concerns.ALL_PROCESSES, true),

		/**
		 * {@code SIGTERM} to the instance whose shards are kept for long, started again
		 * in time.
		 */
		RESTART_IN_PLACE(0, 3000, Concerns.PATIENT_PROCESS, false),

		/**
		 * {@code SIGTERM} to the instance whose shards are kept for a moment, started
		 * again for this long after others have got them.
		 */
		LATE_RETURN(0, 3000, Concerns.HASTY_PROCESS, true),

		/** {@code kill -9} of Redis, started again on the same data. */
		REDIS_KILL(200, 6000, Concerns.REDIS, false),

		/** {@code kill -9} of Kafka's only broker, started again on the same data. */
		KAFKA_KILL(200, 4000, Concerns.KAFKA, false),

		/** {@code SIGSTOP} of Kafka's only broker. */
		KAFKA_FREEZE(500, 5000, Concerns.KAFKA, false),

		/** End of the database's server, started again on the same data. */
		DATABASE_RESTART(200, 4000, Concerns.DATABASE, false),

		/**
		 * All connections reset, and let in again before the lease ends; with a shorter
		 * lease than 3 s proportionally sooner.
		 */
		RESET(0, 1000, Concerns.NETWORK, false),

		/** All connections reset, and refused for longer than the lease. */
		DISCONNECTION(4000, 8000, Concerns.NETWORK, true),

		/** Nothing arrives, nothing is closed, for less than the session timeout. */
		SHORT_SILENCE(500, 3500, Concerns.NETWORK, false),

		/**
		 * Nothing arrives, nothing is closed, until the shards have moved, and longer.
		 */
		LONG_SILENCE(300, 4000, Concerns.NETWORK, true),

		/** The subscription is reset and refused; heartbeats are fine. */
		SUBSCRIPTION_RESET(500, 6000, Concerns.NETWORK, false),

		/** Nothing arrives on the subscription; heartbeats are fine. */
		SUBSCRIPTION_SILENCE(500, 6000, Concerns.NETWORK, false),

		/** All but the subscription is reset and refused, for less than the timeout. */
		OTHERS_RESET(500, 3500, Concerns.NETWORK, false),

		/** Nothing arrives but on the subscription, for less than the timeout. */
		OTHERS_SILENCE(500, 3500, Concerns.NETWORK, false),

		/**
		 * Heartbeats and subscription are reset and refused until the shards have moved,
		 * and longer; records and commits pass: only its lease stops the old owner.
		 */
		COORDINATION_RESET(300, 3000, Concerns.NETWORK, true),

		/** The same by nothing but heartbeats that do not arrive. */
		HEARTBEATS_SILENCE(300, 3000, Concerns.NETWORK, true),

		/** Records and commits are reset and refused; heartbeats are fine. */
		DATA_RESET(500, 6000, Concerns.NETWORK, false),

		/** Neither records nor commits arrive; heartbeats are fine. */
		DATA_SILENCE(500, 6000, Concerns.NETWORK, false),

		/** Everything arrives late, far less than a lease. */
		SLOW_NETWORK(1000, 5000, Concerns.NETWORK, false);

		private final int shortestMillis;

		private final int longestMillis;

		private final Concerns concerns;

		private final boolean moves;

		Kind(int shortestMillis, int longestMillis, Concerns concerns, boolean moves) {
			this.shortestMillis = shortestMillis;
			this.longestMillis = longestMillis;
			this.concerns = concerns;
			this.moves = moves;
		}

		int shortestMillis() {
			return this.shortestMillis;
		}

		int longestMillis() {
			return this.longestMillis;
		}

		/** Whether shards may move because of it, when nothing else is wrong. */
		boolean movesShards() {
			return this.moves;
		}

		/** Whether it has to be over before the lease ends. */
		boolean endsWithinLease() {
			return this == RESET;
		}

		/** Whether it is a restart of an instance that finds its shards again. */
		boolean returnsShards() {
			return this == RESTART_IN_PLACE;
		}

		/** Whether both may last at the same time, on different instances. */
		boolean goesWith(Kind other) {
			if (this.concerns == Concerns.NETWORK || other.concerns == Concerns.NETWORK) {
				return true;
			}
			return this.concerns != Concerns.ALL_PROCESSES && other.concerns != Concerns.ALL_PROCESSES
					&& (this.concerns != other.concerns || this.concerns == Concerns.PROCESS);
		}

	}

	private enum Concerns {

		PROCESS, PATIENT_PROCESS, HASTY_PROCESS, ALL_PROCESSES, REDIS, KAFKA, DATABASE, NETWORK

	}

}
