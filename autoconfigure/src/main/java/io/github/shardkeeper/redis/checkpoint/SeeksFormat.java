package io.github.shardkeeper.redis.checkpoint;

import java.nio.charset.StandardCharsets;

import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.shard.Offset;

/**
 * Seeks as {@code request-seek.lua} and {@code commit.lua} keep them in the checkpoint.
 * Has no state.
 */
final class SeeksFormat {

	private SeeksFormat() {
	}

	/**
	 * Reads them.
	 * @param seek what is pending, empty for nothing
	 * @param sought the number of the last one that was carried out, empty for none
	 */
	static Seeks read(byte[] seek, byte[] sought) {
		long applied = (sought.length > 0) ? Long.parseLong(text(sought)) : 0;
		if (seek.length == 0) {
			return (applied != 0) ? new Seeks(applied, null) : Seeks.NONE;
		}
		String[] parts = text(seek).split(" ", 3);
		return new Seeks(applied,
				new SeekRequest(Long.parseLong(parts[0]), new Offset(parts[2]), parts[1].equals("1")));
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
