package io.github.shardkeeper;

/**
 * Names of the headers for the origin of a record, for {@code @Header(ShardHeaders.…)}
 * and the headers of a {@code Message}. They hide a record's headers of these names.
 * Immutable.
 */
public final class ShardHeaders {

	/** Key of the record, a {@code String}; absent if it has none. */
	public static final String KEY = "shardkeeper_key";

	/** Name of the topic, a {@code String}. */
	public static final String TOPIC = "shardkeeper_topic";

	/** Id of the shard in its topic, a {@code String} such as {@code 3}. */
	public static final String SHARD = "shardkeeper_shard";

	/** Offset of the record in the shard, a {@code String}. */
	public static final String OFFSET = "shardkeeper_offset";

	/** Time of appending by the source's clock, a {@link java.time.Instant}. */
	public static final String TIMESTAMP = "shardkeeper_timestamp";

	/** Group that consumes the record, a {@code String}. */
	public static final String GROUP = "shardkeeper_group";

	/** Number of this call with the record, from 1, an {@code Integer}. */
	public static final String ATTEMPT = "shardkeeper_attempt";

	private ShardHeaders() {
	}

}
