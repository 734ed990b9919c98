package io.github.shardkeeper;

/**
 * Removes what is left in this group of topics that it does not consume any more. A topic
 * that no instance consumes is a detail of health, {@code retired}, until it is forgotten
 * or consumed again. A bean of this type is there on every instance, also on one that
 * consumes nothing. Thread-safe.
 * <p>
 * Nothing is removed while a member of the group consumes the topic, owns one of its
 * shards or is to get one; an instance that has stopped or died counts until its session
 * has ended. What belongs to the topic itself stays: its records, its number of shards
 * and what other groups keep of it. Nor is anything removed of broadcast topics, whose
 * data is each instance's own.
 * <p>
 * What is <em>not</em> promised: an instance that is frozen or cut off, and that the
 * group has given up, still has the topic. If it comes back later, so does the topic,
 * with what the instance has in memory.
 * <p>
 * Methods throw {@link StoreUnavailableException} when the store does not answer. Part of
 * the topic may be removed then; each may be repeated as it is, until it returns.
 */
public interface RetiredTopics {

	/**
	 * Forgets who owned the topic's shards. Offsets, states, retry queues and dead
	 * letters stay: if the group consumes the topic again, its shards are assigned anew,
	 * under greater tokens, and resume from there.
	 * @param topic the topic, which need not be configured
	 * @return how many shards were forgotten; 0 when the group knows none of the topic
	 * @throws IllegalArgumentException when that is no name of a topic
	 * @throws IllegalStateException when members of the group keep the topic from being
	 * forgotten; the message names them
	 * @throws StoreUnavailableException when there was no answer, or while the group
	 * begins and members may claim what it does not know; a retry makes sense
	 */
	int forget(String topic);

	/**
	 * The same, and removes <b>offsets, states, retry queues and dead letters</b> of all
	 * of the topic's shards in this group, for good, also of those that were forgotten
	 * before. Trimming does not wait for this group any more. If the group consumes the
	 * topic again, it begins as a new group does.
	 * <p>
	 * Looks at all keys of Redis, 1,000 at a time: not to be called often.
	 * @param topic the topic, which need not be configured
	 * @return of how many shards data was removed; 0 when there was none
	 * @throws IllegalArgumentException when that is no name of a topic
	 * @throws IllegalStateException when members of the group keep the topic from being
	 * forgotten: nothing was removed; or when shards of it were acquired meanwhile: their
	 * data stays
	 * @throws StoreUnavailableException when there was no answer, or while the group
	 * begins and members may claim what it does not know; a retry makes sense
	 * @throws UnsupportedOperationException when checkpoints are kept in a store of the
	 * application's own that cannot remove them; the topic is forgotten then
	 */
	int forgetWithData(String topic);

}
