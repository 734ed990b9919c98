package io.github.shardkeeper;

/**
 * Names of the headers that tell where a record comes from, for
 * {@code @Header(ShardHeaders.…)} and the headers of a {@code Message}. The record's own
 * headers stand beside them under their own names; one that has a name of these is not
 * seen.
 */
public final class ShardHeaders {

	/** The key it was sent with, a {@code String}; not there if it has none. */
	public static final String KEY = "shardkeeper_key";

	/** The topic's name, a {@code String}. */
	public static final String TOPIC = "shardkeeper_topic";

	/** The shard's id in its topic, a {@code String} such as {@code 3}. */
	public static final String SHARD = "shardkeeper_shard";

	/** The position in the shard, a {@code String}. */
	public static final String OFFSET = "shardkeeper_offset";

	/**
	 * When it was appended, by the clock of the source, a {@link java.time.Instant}.
	 */
	public static final String TIMESTAMP = "shardkeeper_timestamp";

	/** The group that consumes it, a {@code String}. */
	public static final String GROUP = "shardkeeper_group";

	private ShardHeaders() {
	}

}
