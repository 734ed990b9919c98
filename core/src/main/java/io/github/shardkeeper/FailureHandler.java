package io.github.shardkeeper;

/**
 * Chooses by its failure what becomes of a record, before the retries and the
 * {@code on-failure} of its topic do. Beans of this type are called in the order of
 * {@code @Order}, after the rules in {@code shardkeeper.consumer.failures}; the first
 * choice that is not {@link FailureAction#asConfigured()} counts. A topic whose
 * {@code shardkeeper.topics.<topic>.failure-handler} names a bean has only that one.
 * Thread-safe; called on the thread of the shard's worker, so it must not block.
 * <p>
 * If it throws, returns {@code null}, or chooses what the topic does not have, the record
 * is treated as configured. That is logged, and counted in
 * {@code shardkeeper.failure.handler.failures}; the record is not lost.
 * <p>
 * Not called for what the record has not caused: a value of the state that cannot be
 * read, which halts the shard, an outage of a store, and an interruption because the
 * shard or the lease was lost. Not called either for handlers without records, which are
 * repeated, and their timers.
 */
@FunctionalInterface
public interface FailureHandler {

	/**
	 * Chooses what becomes of a record.
	 * <p>
	 * Of a list that has failed as a whole, the record is the first. A retry repeats the
	 * list; with any other choice its records are handled one by one, and each that fails
	 * is a call of this method. A record whose payload cannot be converted is not retried
	 * in place: that choice counts as {@link FailureAction#asConfigured()}.
	 * @param shard the shard
	 * @param record the record, with its payload as it was read, which must not be
	 * changed. Its {@code attempt()} is the number of the call that has failed. A timer
	 * has an empty payload and a header {@code shardkeeper-timer} with its name
	 * @param failure what the handler has thrown, or why the payload cannot be converted
	 * @return the choice
	 */
	FailureAction choose(ShardContext shard, ShardRecord<byte[]> record, Throwable failure);

}
