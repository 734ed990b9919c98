package io.github.shardkeeper;

/**
 * Marks a record or a batch as handled. A {@link ShardConsumer} method may take one if
 * {@code shardkeeper.consumer.commit.mode} is {@code manual}; then its return marks
 * nothing. Thread-safe: it may be called during the call or later, by any thread,
 * repeatedly.
 * <p>
 * It marks its own record or batch only. The committed offset stays below the first
 * record that is not acknowledged, so asynchronous work may finish in any order. Records
 * acknowledged out of order are not handled again, unless the method uses
 * {@link ShardState}: its changes build on each other, so a record counts as handled only
 * when all records handled before it are acknowledged too.
 * <p>
 * A later background commit includes the acknowledgment. Records that are not
 * acknowledged when the shard moves or the instance crashes are handled again. After the
 * shard has moved, the call has no effect.
 */
@FunctionalInterface
public interface Acknowledgment {

	/** Marks the record or batch as handled. Does not block and does not throw. */
	void acknowledge();

}
