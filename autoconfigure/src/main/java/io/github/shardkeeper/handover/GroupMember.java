package io.github.shardkeeper.handover;

import io.github.shardkeeper.shard.MemberId;

/**
 * A member as the store knows it. Immutable.
 *
 * @param id its id
 * @param description what it said about itself
 * @param leaving whether it has announced that it leaves: it keeps consuming what it
 * owns, and gets nothing new
 */
public record GroupMember(MemberId id, MemberDescription description, boolean leaving) {

}
