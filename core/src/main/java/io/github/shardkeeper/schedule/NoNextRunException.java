package io.github.shardkeeper.schedule;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A cron expression names no time after another one, so it cannot continue. Thrown before
 * a run begins, never after its call. A retry does not help until the schedule is
 * changed.
 */
public final class NoNextRunException extends IllegalStateException {

	NoNextRunException(RunTrigger.Cron cron, Instant after, @Nullable Instant reply) {
		super(("The schedule '%s' names no time after %s%s, so no run is begun. "
				+ "Write another expression, or a zone without changes of its clock, such as UTC")
			.formatted(cron.text(), after, (reply != null) ? ", but " + reply : ""));
	}

}
