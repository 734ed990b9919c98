package io.github.shardkeeper.schedule;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;

/**
 * Position of a shard in its schedule. A shard without records has it as its offset, so
 * it is committed under the token, atomically with the shard's state:
 * <code>next=2026-11-23T03:00:00Z;last=2026-11-22T03:00:00.004Z;ended=2026-11-22T03:07:21.318Z;by=cron
 * 0 0 3 * * * UTC</code>. Immutable.
 *
 * @param next the time of the run that is not finished yet; of the following one once it
 * is
 * @param started the time at which that run was started, {@code null} if it was not
 * @param failed whether that run has failed and is to be repeated
 * @param last the time at which the last finished run was started, {@code null} for none
 * @param ended the end of the last finished run, {@code null} for none, or if it was
 * interrupted and skipped
 * @param by the {@linkplain RunTrigger#text() text} of the trigger that the time is of
 */
public record RunPosition(Instant next, @Nullable Instant started, boolean failed, @Nullable Instant last,
		@Nullable Instant ended, String by) {

	private static final String BY = ";by=";

	/** Returns the position of a shard that waits for its next run. */
	RunPosition waitingFor(Instant nextRun, String trigger) {
		return new RunPosition(nextRun, null, false, this.last, this.ended, trigger);
	}

	RunPosition startedAt(Instant now) {
		return new RunPosition(this.next, now, false, this.last, this.ended, this.by);
	}

	RunPosition withFailure() {
		return new RunPosition(this.next, this.started, true, this.last, this.ended, this.by);
	}

	RunPosition endedAt(@Nullable Instant end, Instant nextRun, String trigger) {
		return new RunPosition(nextRun, null, false, this.started, end, trigger);
	}

	/**
	 * Returns the latest time that the clock of an owner has shown, as far as it was
	 * written down; {@code null} before the first run.
	 */
	public @Nullable Instant latest() {
		return later(this.started, later(this.last, this.ended));
	}

	private static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
		return (one == null || other != null && other.isAfter(one)) ? other : one;
	}

	/** Returns the position as the offset of its shard. */
	public Offset toOffset() {
		StringBuilder text = new StringBuilder("next=").append(this.next);
		append(text, this.failed ? "failed" : "started", this.started);
		append(text, "last", this.last);
		append(text, "ended", this.ended);
		return new Offset(text.append(BY).append(this.by).toString());
	}

	private static void append(StringBuilder text, String name, @Nullable Instant time) {
		if (time != null) {
			text.append(';').append(name).append('=').append(time);
		}
	}

	/**
	 * Reads the offset of a shard.
	 * @return the position; {@code null} if the offset is not one
	 */
	public static @Nullable RunPosition of(@Nullable Offset offset) {
		int by = (offset != null) ? offset.value().indexOf(BY) : -1;
		if (offset == null || by < 0) {
			return null;
		}
		Map<String, Instant> times = new HashMap<>();
		for (String part : offset.value().substring(0, by).split(";")) {
			int equals = part.indexOf('=');
			try {
				times.put(part.substring(0, Math.max(equals, 0)), Instant.parse(part.substring(equals + 1)));
			}
			catch (DateTimeException ex) {
				return null;
			}
		}
		Instant next = times.get("next");
		Instant failed = times.get("failed");
		return (next == null) ? null : new RunPosition(next, (failed != null) ? failed : times.get("started"),
				failed != null, times.get("last"), times.get("ended"), offset.value().substring(by + BY.length()));
	}

}
