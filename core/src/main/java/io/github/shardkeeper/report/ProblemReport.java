package io.github.shardkeeper.report;

/**
 * Something that is wrong with a group, or that people should know of it. Every instance
 * shows the same, and it stays the same while the problem does. Immutable.
 *
 * @param serious whether health is down for it; otherwise somebody may want it so
 * @param kind one word for what it is about, under which health shows it
 * @param problem what is wrong and what to do
 * @param concerned the shards or members that it is about, empty for the whole group
 */
public record ProblemReport(boolean serious, String kind, String problem, String concerned) {

}
