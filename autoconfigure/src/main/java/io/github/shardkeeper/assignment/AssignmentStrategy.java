package io.github.shardkeeper.assignment;

/**
 * Decides who shall own which shard. Called by the leader only.
 * <p>
 * An implementation is a pure function: the same request gives the same answer on every
 * instance, without I/O, clocks or chance. One that moves a shard without need costs a
 * handover; one that answers its own answer with another one never comes to rest.
 * <p>
 * An application's own strategy is a bean of this type. It is called on a thread of its
 * own and for a limited time; when it throws, takes too long or answers what cannot be,
 * every shard stays where it is, one without an owner is placed by the sticky strategy,
 * and log and health say why. For example, each topic as a whole to one instance: <pre>
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
	 * @return who shall own which shard, built for that request
	 */
	Assignment assign(AssignmentRequest request);

	/**
	 * Whether it looks at {@link AssignmentRequest#load}. If it does not, which is the
	 * default, no load is measured or reported.
	 * @return whether it does; always the same
	 */
	default boolean usesLoad() {
		return false;
	}

}
