package io.github.shardkeeper.test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.worker.timer.TimerBuffer;

/**
 * Timers for tests that call a handler's methods themselves: it keeps what the methods
 * set, and the test says what time it is, and calls the {@code @OnShardTimer} method.
 * Confined to one thread.
 * <p>
 * <b>Not guaranteed.</b> It knows no calls: what a method has set before it throws stays
 * set.
 */
public final class MemoryShardTimers implements ShardTimers {

	private final Map<TimerId, ShardTimer> waiting = new LinkedHashMap<>();

	@Override
	public void set(String key, String name, Instant at) {
		change((timers) -> timers.set(key, name, at));
	}

	@Override
	public void cancel(String key, String name) {
		change((timers) -> timers.cancel(key, name));
	}

	/** Checks and rounds as a call in an application does. */
	private void change(Consumer<ShardTimers> call) {
		try (TimerBuffer buffer = new TimerBuffer()) {
			call.accept(buffer);
			buffer.changes().forEach(this::put);
		}
	}

	private void put(TimerId id, @Nullable Instant due) {
		this.waiting.remove(id);
		if (due != null) {
			this.waiting.put(id, new ShardTimer(id.key(), id.name(), due));
		}
	}

	/**
	 * Returns the timers that are set and have not fired.
	 * @return a copy, in the order of their times
	 */
	public List<ShardTimer> waiting() {
		List<ShardTimer> all = new ArrayList<>(this.waiting.values());
		all.sort(Comparator.comparing(ShardTimer::dueAt));
		return all;
	}

	/**
	 * Removes the timers that are due at a time, to be passed to the
	 * {@code @OnShardTimer} method.
	 * @param now the time
	 * @return the timers that were removed, in the order of their times
	 */
	public List<ShardTimer> takeDue(Instant now) {
		Objects.requireNonNull(now, "now must not be null");
		List<ShardTimer> due = waiting().stream().filter((timer) -> !timer.dueAt().isAfter(now)).toList();
		due.forEach((timer) -> this.waiting.remove(new TimerId(timer.key(), timer.name())));
		return due;
	}

}
