package io.github.shardkeeper;

/**
 * Decides which records are handled. A record that a bean of this type does not accept is
 * committed as handled without a call, and counted in
 * {@code shardkeeper.records.skipped}; of a batch, the handler gets the others.
 * Thread-safe.
 * <p>
 * A filter is called before the payload is converted, so that it can skip what the
 * handler cannot read, once for each attempt. If it throws, the call fails as if the
 * handler had thrown. Timers are not filtered.
 * <p>
 * <b>Not guaranteed.</b> That a record is filtered once: after a crash, it is read again.
 */
@FunctionalInterface
public interface ShardRecordFilter {

	/**
	 * Returns whether a record is to be handled.
	 * @param shard the shard
	 * @param record the record, with its payload as it was read, which must not be
	 * changed
	 * @return {@code false} to skip it
	 */
	boolean accepts(ShardContext shard, ShardRecord<byte[]> record);

}
