package io.github.shardkeeper;

/**
 * Says that a record, or a batch of them, is done, where the handler's return does not
 * say so: with {@code shardkeeper.consumer.commit.mode: manual}, a {@link ShardConsumer}
 * method may take one. Thread-safe: it may be called during the call or later, from any
 * thread, more than once.
 * <p>
 * With the ordering {@code shard} it is cumulative: its record, or the last record of its
 * batch, and all before it in the shard are done. With the orderings {@code key} and
 * {@code none} it settles its own record or batch only.
 * <p>
 * Acknowledging does not wait for a commit: the next one in the background takes it
 * along. What is not acknowledged when the shard moves, or when the instance crashes, is
 * handled again. When the shard has gone meanwhile, nothing happens: its new owner
 * handles the record.
 */
@FunctionalInterface
public interface Acknowledgment {

	/**
	 * The record or batch is done.
	 */
	void acknowledge();

}
