package io.github.shardkeeper.benchmarks.moves;

import java.util.Locale;

/**
 * An event of a group.
 */
enum Event {

	QUIET("quiet"),

	/** A third instance is started. */
	JOIN("join"),

	/** One of three is asked to end. */
	LEAVE("leave"),

	/** One of three is killed with {@code kill -9}. */
	KILL("kill -9"),

	/** One of two is frozen for ten seconds, and woken. */
	FREEZE("freeze"),

	/** One of two is stopped for a second, as by a garbage collector, and continued. */
	PROCESS_PAUSE("a process is stopped for 1 s"),

	/** Redis is stopped for a second, and continued. */
	REDIS_PAUSE("Redis is stopped for 1 s"),

	/** All instances are replaced, one after the other. */
	ROLLING("rolling restart"),

	/** One of them is replaced, under its name. */
	RESTART("restart in place");

	private final String title;

	Event(String title) {
		this.title = title;
	}

	/** Returns its name in tables. */
	String title() {
		return this.title;
	}

	/** Returns its name in an option. */
	String option() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
