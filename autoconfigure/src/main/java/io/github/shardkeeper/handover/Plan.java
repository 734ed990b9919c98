package io.github.shardkeeper.handover;

import java.util.List;

/**
 * What a planner found. Immutable.
 *
 * @param transitions what can be changed now
 * @param nextMillis when a shard can be assigned that cannot yet, in milliseconds of the
 * store's time; 0 for none
 * @param movesHeldBack whether there are moves that wait until others have been made
 */
record Plan(List<Transition> transitions, long nextMillis, boolean movesHeldBack) {

}
