package io.github.shardkeeper.source.memory;

import java.time.Instant;
import java.util.List;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Positions in a stream whose offsets are the records' numbers. Has no state.
 */
final class MemoryPositions {

	private MemoryPositions() {
	}

	/** The offset after which a position begins. */
	static Offset before(StartPosition position, List<SourceRecord> stream) {
		int before = 0;
		if (position instanceof StartPosition.Latest) {
			before = stream.size();
		}
		else if (position instanceof StartPosition.At at) {
			before = recordsBefore(at.time(), stream);
		}
		else if (position instanceof StartPosition.After after) {
			before = requireOffset(after.last());
		}
		else if (position instanceof StartPosition.From from) {
			before = Math.max(0, requireOffset(from.first()) - 1);
		}
		return new Offset(Integer.toString(before));
	}

	private static int recordsBefore(Instant time, List<SourceRecord> stream) {
		int records = 0;
		while (records < stream.size() && stream.get(records).timestamp().isBefore(time)) {
			records++;
		}
		return records;
	}

	static int requireOffset(Offset offset) {
		int number;
		try {
			number = Integer.parseInt(offset.value());
		}
		catch (NumberFormatException ex) {
			throw malformed(offset);
		}
		if (number < 0) {
			throw malformed(offset);
		}
		return number;
	}

	private static IllegalArgumentException malformed(Offset offset) {
		return new IllegalArgumentException(
				"'%s' is no offset of a topic in memory; those are numbers that begin with 1".formatted(offset));
	}

}
