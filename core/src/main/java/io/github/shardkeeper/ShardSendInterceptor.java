package io.github.shardkeeper;

import io.github.shardkeeper.ShardTemplate.Appended;
import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Intercepts each record that the application sends, with {@link ShardTemplate} or
 * {@link ShardOutput}, to all topics. Any number of beans of this type run in the order
 * of {@code @Order}: the next one sees what the one before has returned, and results are
 * told in the reverse order. Thread-safe.
 * <p>
 * <b>Not guaranteed.</b> The result of a record that a handler sends with
 * {@link ShardOutput}: it is appended after the commit of its call, perhaps by another
 * instance, or never if the call fails, so neither {@link #sent} nor {@link #failed} is
 * called for it. A {@link ShardInterceptor} sees how the call ends.
 */
@FunctionalInterface
public interface ShardSendInterceptor {

	/**
	 * Returns the record to send: this one, or another with other headers, key, payload,
	 * shard or id. Called on the sending thread, before the shard is chosen and the
	 * payload is converted. What it throws is what the send throws, also an
	 * {@code Error}, and the record is not sent; of several records that are sent
	 * together, none is.
	 * @param topic the topic
	 * @param record the record
	 * @return the record to send
	 */
	Outgoing sending(String topic, Outgoing record);

	/**
	 * Notes that a record is appended. Called once, on any thread; does not block. What
	 * it throws has no effect on the record, and is logged the first time.
	 * @param topic the topic
	 * @param record the record as it was sent
	 * @param appended its shard and offset
	 */
	default void sent(String topic, Outgoing record, Appended appended) {
	}

	/**
	 * Notes that a record could not be sent, or that nothing confirms it: see
	 * {@link SendFailedException#mayHaveBeenAppended()}. Called once, on any thread,
	 * unless {@link #sending} of this interceptor has thrown; does not block. What it
	 * throws has no effect, and is logged the first time.
	 * @param topic the topic
	 * @param record the record as it was to be sent
	 * @param failure the failure
	 */
	default void failed(String topic, Outgoing record, Throwable failure) {
	}

}
