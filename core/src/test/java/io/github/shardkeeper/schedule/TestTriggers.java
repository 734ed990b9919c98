package io.github.shardkeeper.schedule;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.function.Function;

/** Triggers whose times a test decides. */
public final class TestTriggers {

	private TestTriggers() {
	}

	/** Returns a cron expression that replies, in UTC, what a test wants. */
	public static RunTrigger cron(Function<LocalDateTime, LocalDateTime> next) {
		return new RunTrigger.Cron("0 0 * * * *", next, ZoneOffset.UTC);
	}

}
