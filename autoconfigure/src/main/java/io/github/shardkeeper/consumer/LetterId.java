package io.github.shardkeeper.consumer;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.shardkeeper.shard.ShardId;

/**
 * What the application knows a dead letter by, {@code topic/shard/number-number}.
 * Immutable.
 *
 * @param shard its shard
 * @param inShard its id there
 */
record LetterId(ShardId shard, String inShard) {

	/** The numbers fit into 64 bits. */
	private static final Pattern FORMAT = Pattern.compile("([^/]+/[^/]+)/(\\d{1,18}-\\d{1,18})");

	static LetterId parse(String text) {
		Matcher parts = FORMAT.matcher(text);
		if (!parts.matches()) {
			throw new IllegalArgumentException(
					"'%s' is not the id of a dead letter; they look like 'orders/3/1795234603797-0'".formatted(text));
		}
		return new LetterId(ShardId.parse(parts.group(1)), parts.group(2));
	}

	@Override
	public String toString() {
		return this.shard + "/" + this.inShard;
	}

}
