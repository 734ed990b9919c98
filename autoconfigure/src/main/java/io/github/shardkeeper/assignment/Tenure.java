package io.github.shardkeeper.assignment;

import io.github.shardkeeper.shard.MemberId;

/**
 * Who owns a shard today. Immutable.
 *
 * @param owner the owner, or the target of a move under way; may be gone
 * @param since the group's generation at the last change of the shard's ownership: the
 * higher, the later it came
 */
public record Tenure(MemberId owner, long since) {

}
