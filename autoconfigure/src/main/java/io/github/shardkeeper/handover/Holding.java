package io.github.shardkeeper.handover;

import io.github.shardkeeper.shard.Token;

/**
 * A shard that a member holds. Immutable.
 *
 * @param token the token under which it owns the shard
 * @param worker the token that the last worker was started under, at most the token
 * @param phase how far it has come with giving the shard up
 */
record Holding(Token token, Token worker, Phase phase) {

	static Holding started(Token token) {
		return new Holding(token, token, Phase.HELD);
	}

	static Holding drained(Token token) {
		return new Holding(token, token, Phase.DRAINED);
	}

	Holding in(Phase phase) {
		return new Holding(this.token, this.worker, phase);
	}

	/** Whether a worker of it may still run. */
	boolean runs() {
		return this.phase != Phase.DRAINED;
	}

	enum Phase {

		/** Consumed, or about to be. */
		HELD,
		/** To be given up as soon as its worker has ended. */
		DRAINING,
		/** Its worker has ended; the store has not taken the release yet. */
		DRAINED

	}

}
