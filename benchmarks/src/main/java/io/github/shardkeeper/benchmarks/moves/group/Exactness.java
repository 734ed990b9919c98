package io.github.shardkeeper.benchmarks.moves.group;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Check that every record was handled once, in order, and by one owner. Immutable.
 *
 * @param lost the number of records that were not handled
 * @param incidents the other violations
 */
public record Exactness(long lost, List<Incident> incidents) {

	/** Violation by a record. */
	public enum Kind {

		/** Another instance has handled it before. */
		TWICE,

		/** The same instance has handled it before. */
		AGAIN,

		/** The one before it was not handled before it. */
		OUT_OF_ORDER,

		/** A later owner has handled records of the shard before. */
		TWO_OWNERS

	}

	/**
	 * Looks at everything.
	 * @param byShard the handled records, in the order of time
	 * @param sent the number of records of each shard
	 */
	public static Exactness of(List<List<Handled>> byShard, long sent) {
		List<Incident> incidents = new ArrayList<>();
		long lost = 0;
		for (List<Handled> handled : byShard) {
			lost += sent - look(handled, incidents);
		}
		return new Exactness(lost, incidents);
	}

	/** Returns the number of handled records. */
	private static int look(List<Handled> handled, List<Incident> incidents) {
		Map<Long, String> handlers = new HashMap<>();
		Handled before = null;
		Handled latestOwner = null;
		long highest = 0;
		for (Handled record : handled) {
			boolean goesOn = before != null && before.instance().equals(record.instance())
					&& before.epoch() == record.epoch();
			// A record that is repeated at once is out of order for nobody.
			boolean repeated = goesOn && record.number() == before.number();
			if (record.number() > highest + 1 || goesOn && !repeated && record.number() != before.number() + 1) {
				incidents.add(new Incident(Kind.OUT_OF_ORDER, record.nanos()));
			}
			String handler = handlers.putIfAbsent(record.number(), record.instance());
			if (handler != null) {
				incidents
					.add(new Incident(handler.equals(record.instance()) ? Kind.AGAIN : Kind.TWICE, record.nanos()));
			}
			if (latestOwner != null && record.epoch() < latestOwner.epoch()
					&& !latestOwner.instance().equals(record.instance())) {
				incidents.add(new Incident(Kind.TWO_OWNERS, record.nanos()));
			}
			else {
				latestOwner = record;
			}
			highest = Math.max(highest, record.number());
			before = record;
		}
		return handlers.size();
	}

	/** Returns the number of violations in a period. */
	public long count(Kind kind, Window window) {
		return this.incidents.stream()
			.filter((incident) -> incident.kind() == kind && incident.nanos() >= window.fromNanos()
					&& incident.nanos() <= window.toNanos())
			.count();
	}

	/** Returns the number of violations. */
	public long count(Kind kind) {
		return this.incidents.stream().filter((incident) -> incident.kind() == kind).count();
	}

	/**
	 * Something was wrong.
	 *
	 * @param kind the kind
	 * @param nanos when
	 */
	record Incident(Kind kind, long nanos) {

	}

}
