package io.github.shardkeeper.handover;

/**
 * Something that is wrong with a group, or that people should know of it. The text stays
 * the same as long as the problem does. Immutable.
 *
 * @param serious whether shards that should be consumed are not, or would not be after
 * the next crash; otherwise somebody may want it so
 * @param kind one word for what the problem is about, under which health shows it
 * @param sentence what is wrong and what to do
 * @param concerned the shards or members that the problem is about, empty for the whole
 * group
 */
public record GroupProblem(boolean serious, String kind, String sentence, String concerned) {

}
