package io.github.shardkeeper.coordination;

/**
 * A problem of a group, or a detail that people should know. All instances report the
 * same text, which stays the same as long as the problem exists. Immutable.
 *
 * @param serious whether the problem turns health down; otherwise it may be intended
 * @param kind one word for the kind of problem, under which health reports it
 * @param problem the problem and its remedy
 * @param concerned the affected shards or members; empty for the whole group
 */
public record ProblemReport(boolean serious, String kind, String problem, String concerned) {

}
