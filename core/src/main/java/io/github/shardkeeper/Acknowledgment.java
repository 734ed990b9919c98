package io.github.shardkeeper;

/**
 * Says that a record, or a batch of them, is done, where the handler's return does not
 * say so: with {@code shardkeeper.consumer.commit.mode: manual}, a {@link ShardConsumer}
 * method may take one. Thread-safe: it may be called during the call or later, from any
 * thread, more than once.
 * <p>
 * It speaks for its own record or batch, and for no other. What is committed follows the
 * first record that is not acknowledged, so asynchronous work may end in any order. With
 * a {@link ShardState} a record counts once all that were handled before it are
 * acknowledged too, since what they wrote builds on each other; without one, records that
 * were acknowledged out of turn are not handled again.
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
