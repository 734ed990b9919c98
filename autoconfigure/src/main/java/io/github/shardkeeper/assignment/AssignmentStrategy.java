package io.github.shardkeeper.assignment;

import java.util.Map;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Decides who shall own which shard. Called by the leader only.
 * <p>
 * An implementation is a pure function: the same request gives the same answer on every
 * instance, without I/O, clocks or chance.
 */
@FunctionalInterface
public interface AssignmentStrategy {

	/**
	 * Computes the owners.
	 * @param request the members and shards
	 * @return the owner of each shard; a shard that nobody can take is left out
	 */
	Map<ShardId, MemberId> assign(AssignmentRequest request);

}
