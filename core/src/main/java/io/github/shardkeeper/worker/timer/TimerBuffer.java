package io.github.shardkeeper.worker.timer;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.checkpoint.CallScoped;
import io.github.shardkeeper.checkpoint.TimerId;

/**
 * Timers that one call sets and cancels. Confined to the call until it has ended.
 */
public final class TimerBuffer extends CallScoped implements ShardTimers {

	/** They are in one commit. */
	private static final int MAX_PER_CALL = 10_000;

	private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999Z");

	private Map<TimerId, @Nullable Instant> changes = new LinkedHashMap<>();

	@Override
	public void set(String key, String name, Instant at) {
		Objects.requireNonNull(at, "at must not be null");
		if (at.isAfter(LATEST)) {
			throw new IllegalArgumentException(
					"The timer '%s' is set to %s, later than %s".formatted(name, at, LATEST));
		}
		change(key, name, at.isBefore(Instant.EPOCH) ? Instant.EPOCH : wholeMillis(at));
	}

	/** Never before the time. */
	private static Instant wholeMillis(Instant at) {
		Instant truncated = at.truncatedTo(ChronoUnit.MILLIS);
		return truncated.equals(at) ? at : truncated.plusMillis(1);
	}

	@Override
	public void cancel(String key, String name) {
		change(key, name, null);
	}

	private void change(String key, String name, @Nullable Instant due) {
		if (!isUsable()) {
			throw new IllegalStateException(
					"ShardTimers may only be used inside the call that received it, on that call's thread");
		}
		Objects.requireNonNull(key, "key must not be null");
		Objects.requireNonNull(name, "name must not be null");
		TimerId id = new TimerId(key, name);
		if (this.changes.size() >= MAX_PER_CALL && !this.changes.containsKey(id)) {
			throw new IllegalArgumentException(
					"With the timer '%s' the call changes more than %,d timers: change fewer in one call, or take fewer records at once with 'shardkeeper.consumer.batch-size'"
						.formatted(name, MAX_PER_CALL));
		}
		this.changes.put(id, due);
	}

	/** Returns when timers are due, with {@code null} for those to cancel. */
	public Map<TimerId, @Nullable Instant> changes() {
		return Collections.unmodifiableMap(this.changes);
	}

	/** Returns an action that takes back what is changed from now on. */
	public Runnable savepoint() {
		Map<TimerId, @Nullable Instant> kept = new LinkedHashMap<>(this.changes);
		return () -> this.changes = new LinkedHashMap<>(kept);
	}

}
