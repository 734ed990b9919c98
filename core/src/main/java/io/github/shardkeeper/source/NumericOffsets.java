package io.github.shardkeeper.source;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;

/**
 * Offsets that are whole numbers, such as ids of rows or positions of bytes: 0 or more,
 * rising within a shard, with or without gaps. -1 is before the first record.
 * Thread-safe.
 */
public final class NumericOffsets {

	/** Number of the offset before the first record. */
	public static final long BEFORE_ALL = -1;

	private NumericOffsets() {
	}

	/**
	 * Creates an offset.
	 * @param number the number, -1 or more
	 * @return the offset
	 */
	public static Offset of(long number) {
		if (number < BEFORE_ALL) {
			throw new IllegalArgumentException("The offset %d is negative".formatted(number));
		}
		return new Offset(Long.toString(number));
	}

	/**
	 * Returns the number of an offset.
	 * @param offset the offset
	 * @return the number, -1 or more
	 * @throws IllegalArgumentException if the offset is not such a number; a retry does
	 * not help
	 */
	public static long number(Offset offset) {
		Objects.requireNonNull(offset, "offset must not be null");
		long number;
		try {
			number = Long.parseLong(offset.value());
		}
		catch (NumberFormatException ex) {
			throw invalid(offset);
		}
		if (number < BEFORE_ALL) {
			throw invalid(offset);
		}
		return number;
	}

	private static IllegalArgumentException invalid(Offset offset) {
		return new IllegalArgumentException(
				"'%s' is not an offset of this source; those are whole numbers, 0 or more, or -1 for the position before the first record"
					.formatted(offset));
	}

	/**
	 * Resolves a start position, for {@link ShardSource#before}.
	 * @param position the position
	 * @param shards the shards
	 * @param latest returns the number of the last record of a shard, -1 for an empty
	 * shard
	 * @param at returns a number before the first record of a shard that was appended at
	 * a time or later: that of the last earlier record, or a lower one where the source
	 * cannot tell
	 * @return by shard the offset after which to read
	 * @throws IllegalArgumentException if the position holds an offset that is not a
	 * valid number; a retry does not help
	 */
	public static Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards,
			ToLongFunction<ShardId> latest, ToLongBiFunction<ShardId, Instant> at) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		Objects.requireNonNull(latest, "latest must not be null");
		Objects.requireNonNull(at, "at must not be null");
		ToLongFunction<ShardId> before = (shard) -> BEFORE_ALL;
		if (position instanceof StartPosition.Latest) {
			before = latest;
		}
		else if (position instanceof StartPosition.At time) {
			before = (shard) -> at.applyAsLong(shard, time.time());
		}
		else if (position instanceof StartPosition.From from) {
			long number = Math.max(BEFORE_ALL, number(from.first()) - 1);
			before = (shard) -> number;
		}
		else if (position instanceof StartPosition.After after) {
			long number = number(after.last());
			before = (shard) -> number;
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			offsets.put(shard, of(before.applyAsLong(shard)));
		}
		return offsets;
	}

}
