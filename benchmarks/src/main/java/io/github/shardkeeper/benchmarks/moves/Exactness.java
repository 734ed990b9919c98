package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether every record was handled, once, in its order, and by one owner. Immutable.
 *
 * @param lost how many were not handled
 * @param incidents what else was not as it should be
 */
record Exactness(long lost, List<Incident> incidents) {

	/** What can be wrong with a record. */
	enum Kind {

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
	 * @param byShard what was handled, in the order of time
	 * @param sent how many records each shard has
	 */
	static Exactness of(List<List<Handled>> byShard, long sent) {
		List<Incident> incidents = new ArrayList<>();
		long lost = 0;
		for (List<Handled> handled : byShard) {
			lost += sent - look(handled, incidents);
		}
		return new Exactness(lost, incidents);
	}

	/** How many records were handled. */
	private static int look(List<Handled> handled, List<Incident> incidents) {
		Map<Long, String> handlers = new HashMap<>();
		Handled before = null;
		Handled latestOwner = null;
		long highest = 0;
		for (Handled record : handled) {
			boolean goesOn = before != null && before.instance().equals(record.instance())
					&& before.epoch() == record.epoch();
			if (record.number() > highest + 1 || goesOn && record.number() != before.number() + 1) {
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

	/** How often something was wrong in some time. */
	long count(Kind kind, Window window) {
		return this.incidents.stream()
			.filter((incident) -> incident.kind() == kind && incident.nanos() >= window.fromNanos()
					&& incident.nanos() <= window.toNanos())
			.count();
	}

	/** How often something was wrong at all. */
	long count(Kind kind) {
		return this.incidents.stream().filter((incident) -> incident.kind() == kind).count();
	}

	/**
	 * Something was wrong.
	 *
	 * @param kind what
	 * @param nanos when
	 */
	record Incident(Kind kind, long nanos) {

	}

}
