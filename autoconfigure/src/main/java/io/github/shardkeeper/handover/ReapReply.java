package io.github.shardkeeper.handover;

import java.util.List;

import io.github.shardkeeper.shard.MemberId;

/**
 * The answer to a look for dead members.
 */
public sealed interface ReapReply {

	/**
	 * The look was taken.
	 *
	 * @param dead members that were reaped because nobody is subscribed for them
	 * @param timedOut members that were reaped at the end of their session timeout
	 * @param slow members that are silent but subscribed: left alone
	 * @param nextLookMillis when the next member can become due, in milliseconds of the
	 * store's time; 0 when nobody is late
	 */
	record Looked(List<MemberId> dead, List<MemberId> timedOut, List<MemberId> slow,
			long nextLookMillis) implements ReapReply {

	}

	/**
	 * Somebody else leads; nothing was done.
	 */
	record Deposed() implements ReapReply {

	}

}
