package io.github.shardkeeper.sample;

/**
 * Tells whether it is this instance that feeds. Two may think so for a moment while the
 * duty passes on: they send the same lines in the same order, and {@link VisitCounter}
 * counts each once.
 */
@FunctionalInterface
interface FeederDuty {

	boolean isMine();

}
