package io.github.shardkeeper.assignment;

/**
 * Decides which member owns which shard. Called by the leader only.
 * <p>
 * An implementation is a pure function: the same request gives the same assignment on
 * every instance, without I/O, clocks or random numbers. Each move costs a handover, and
 * a strategy that changes its own assignment when asked again never comes to rest.
 * <p>
 * An application's own strategy is a bean of this type. It runs on a separate thread and
 * for a limited time. If it throws, takes too long or returns what is not valid, every
 * shard stays where it is, shards without an owner are placed by the sticky strategy, and
 * log and health say why. For example, each topic as a whole to one instance: <pre>
 * &#64;Bean
 * AssignmentStrategy wholeTopics() {
 *     return (request) -&gt; {
 *         Assignment.Builder assignment = Assignment.builder(request);
 *         for (ShardId shard : request.shards().asList()) {
 *             List&lt;Assignee&gt; takers = request.consumersOf(shard.topic());
 *             if (!takers.isEmpty()) {
 *                 int place = Math.floorMod(shard.topic().hashCode(), takers.size());
 *                 assignment.give(shard, takers.get(place).id(), "all of a topic is in one place");
 *             }
 *         }
 *         return assignment.build();
 *     };
 * }
 * </pre>
 */
@FunctionalInterface
public interface AssignmentStrategy {

	/**
	 * Computes the owners.
	 * @param request the members and shards
	 * @return the assignment, built for that request
	 */
	Assignment assign(AssignmentRequest request);

	/**
	 * Returns whether the strategy uses {@link AssignmentRequest#load}. By default it
	 * does not, and no load is measured or reported.
	 * @return whether loads are used; the same at each call
	 */
	default boolean usesLoad() {
		return false;
	}

}
