package io.github.shardkeeper.handler;

import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.ShardRecord;

/** Record that filters have decided about. Immutable if its payload is. */
sealed interface FilteredRecord {

	FilteredRecord SKIPPED = new Skipped();

	/**
	 * Returns those of a call that are handled.
	 * @throws Throwable what a filter has thrown for one of them
	 */
	static List<Accepted> accepted(List<?> records) throws Throwable {
		List<Accepted> accepted = new ArrayList<>(records.size());
		for (Object each : records) {
			if (each instanceof Failed failed) {
				throw failed.failure();
			}
			if (each instanceof Accepted one) {
				accepted.add(one);
			}
		}
		return accepted;
	}

	/**
	 * The record is handled.
	 *
	 * @param input what the handler's method takes of it
	 * @param record the record as interceptors see it
	 */
	record Accepted(Object input, ShardRecord<?> record) implements FilteredRecord {

	}

	/** The record is committed without a call. */
	record Skipped() implements FilteredRecord {

	}

	/** A filter has failed: its failure is that of the call, so that it is retried. */
	record Failed(Throwable failure) implements FilteredRecord {

	}

}
