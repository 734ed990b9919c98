package io.github.shardkeeper;

/**
 * Removes topics that this group no longer consumes from its stores. Health shows a topic
 * that no instance consumes as the detail {@code retired}, until it is forgotten or
 * consumed again. Works on every instance, also on one that consumes nothing.
 * Thread-safe. Methods block until the store has answered.
 * <p>
 * Nothing is removed while a member of the group consumes the topic, owns one of its
 * shards or is the target of a move; a stopped or crashed instance counts until its
 * session has ended. The records and the number of shards of the topic, the data of other
 * groups and the data of broadcast topics, of which each instance has its own, stay.
 * <p>
 * What is <em>not</em> guaranteed: if a frozen or disconnected instance returns after the
 * end of its session, the topic returns too, as that instance holds it in memory.
 * <p>
 * Methods throw {@link StoreUnavailableException} if the store does not reply. Part of
 * the topic may be removed then; repeat the call until it returns.
 */
public interface RetiredTopics {

	/**
	 * Removes the ownership of the topic's shards. Offsets, states, retry queues and dead
	 * letters stay: if the group consumes the topic again, its shards resume from their
	 * offsets, under higher tokens.
	 * @param topic the topic, which need not be configured
	 * @return the number of shards forgotten; 0 if the group knows none of the topic
	 * @throws IllegalArgumentException if the name of the topic is not valid
	 * @throws IllegalStateException if members that the message names still use the topic
	 * @throws StoreUnavailableException if the store did not reply, or while the group
	 * starts and members may still claim shards; a retry makes sense
	 */
	int forget(String topic);

	/**
	 * Removes the ownership and, permanently, the <b>offsets, states, retry queues and
	 * dead letters</b> of all shards of the topic in this group, including shards that
	 * were forgotten before. Trimming no longer waits for this group. If the group
	 * consumes the topic again, it starts like a new group.
	 * <p>
	 * Scans all keys of Redis, 1,000 at a time: do not call it often.
	 * @param topic the topic, which need not be configured
	 * @return the number of shards whose data was removed; 0 if there was none
	 * @throws IllegalArgumentException if the name of the topic is not valid
	 * @throws IllegalStateException if members of the group still use the topic: nothing
	 * was removed; or if shards were acquired in the meantime: their data stays
	 * @throws StoreUnavailableException for the same reasons as {@link #forget}
	 * @throws UnsupportedOperationException if the application's own
	 * {@code CheckpointStore} cannot remove data; the ownership is removed then
	 */
	int forgetWithData(String topic);

}
