package io.github.shardkeeper.benchmarks.moves;

import java.util.Locale;

/**
 * An event of a group.
 */
enum Event {

	/** Nothing. */
	QUIET("quiet"),

	/** A process is started, which takes a part of the machine but does not join. */
	BYSTANDER("a process starts"),

	/** A third instance is started. */
	JOIN("join"),

	/** One of three is asked to end. */
	LEAVE("leave"),

	/** The same as a join, some time after one of the two was frozen for a moment. */
	STALLED_JOIN("join after a stall"),

	/** The same as a join, of a process that has taken part in moves before. */
	WARM_JOIN("join of a warm process"),

	/** One of three is killed with {@code kill -9}. */
	KILL("kill -9"),

	/** One of two is frozen, and woken. */
	FREEZE("freeze"),

	/** One of two is stopped for a second, as by a garbage collector, and continued. */
	PROCESS_STALL("a process is stopped for 1 s"),

	/** Redis is stopped for a second, and continued. */
	REDIS_STALL("Redis is stopped for 1 s"),

	/** All instances are replaced, one after the other. */
	ROLLING("rolling restart"),

	/** One of them is replaced, under its name. */
	RESTART("restart in place");

	private final String title;

	Event(String title) {
		this.title = title;
	}

	/** Its name in tables. */
	String title() {
		return this.title;
	}

	/** Returns its name in an option. */
	String option() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
