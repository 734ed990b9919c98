package io.github.shardkeeper.cluster.memory;

import io.github.shardkeeper.cluster.memory.MemoryCluster.Outbox;
import io.github.shardkeeper.coordination.memory.MemoryGroup;

/** What a tool keeps beside the group. Confined to the transitions of its group. */
interface ClusterAttachment extends MemoryGroup.Attachment {

	/** Frees what members hold that the group does not know any more. */
	default void freeGoneMembers(MemoryGroup group, Outbox outbox) {
	}

}
