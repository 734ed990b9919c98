package io.github.shardkeeper;

/**
 * Marks a record, or a batch, as handled. A {@link ShardConsumer} method may take one if
 * {@code shardkeeper.consumer.commit.mode} is {@code manual}; then the return of the
 * method does not mark anything. Thread-safe: it may be called during the call or later,
 * from any thread, more than once.
 * <p>
 * It marks its own record or batch only. The committed offset stays below the first
 * record that is not acknowledged, so asynchronous work may finish in any order. Without
 * {@link ShardState}, records that were acknowledged out of order are not handled again.
 * With it, a record counts as handled only when all records handled before it are
 * acknowledged too, because their changes of the state build on each other.
 * <p>
 * Acknowledging does not wait for a commit: a later background commit includes it.
 * Records that are not acknowledged when the shard moves, or when the instance crashes,
 * are handled again. If the shard has moved already, the call has no effect: the new
 * owner handles the record.
 */
@FunctionalInterface
public interface Acknowledgment {

	/**
	 * Marks the record or batch as handled. Does not block and does not throw.
	 */
	void acknowledge();

}
