package io.github.shardkeeper.operations;

import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * Says how many records lie between two offsets of a shard. A source counts only what
 * comes after an offset, and records may be added between two counts.
 */
final class RecordDistance {

	static final String UNKNOWN = "the number of records between is not known";

	private static final int MOST_COUNTS = 5;

	private RecordDistance() {
	}

	/**
	 * Returns what a move from one offset to another does with the records between.
	 * @param counts counts the records after an offset; {@code null} if it cannot
	 */
	static String text(Function<Offset, @Nullable Long> counts, Offset present, Offset target) {
		Long before = counts.apply(present);
		long again = 0;
		for (int i = 0; i < MOST_COUNTS; i++) {
			Long wanted = counts.apply(target);
			Long left = counts.apply(present);
			if (before == null || wanted == null || left == null) {
				return UNKNOWN;
			}
			again = wanted - left;
			if (left.equals(before)) {
				return exact(again);
			}
			before = left;
		}
		return "about %s, of a shard to which records are being added".formatted(moved(again));
	}

	private static String exact(long again) {
		return (again == 0) ? "no record lies between" : moved(again);
	}

	private static String moved(long again) {
		return (again > 0) ? records(again) + " would be handled again" : records(-again) + " would be skipped";
	}

	private static String records(long number) {
		return (number == 1) ? "1 record" : number + " records";
	}

}
