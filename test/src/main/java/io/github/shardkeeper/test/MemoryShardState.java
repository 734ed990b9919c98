package io.github.shardkeeper.test;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateView;
import io.github.shardkeeper.state.value.StateValues;

/**
 * State of a shard for tests that call a handler's method themselves. It converts and
 * checks keys and values as the state of a shard does, and keeps every change at once:
 * one object stands for the shard over several calls. Confined to one thread at a time.
 * <pre class="code">
 * MemoryShardState state = new MemoryShardState();
 * this.counter.count(new Visit("ann", "/"), state);
 * assertThat(state.get("ann", Long.class)).contains(1L);
 * </pre>
 * <p>
 * <b>Not guaranteed.</b> Nothing is undone if the handler throws, and nobody commits: how
 * retries, moves and crashes treat the state is for a test with an application.
 */
public final class MemoryShardState implements ShardState {

	private final JournaledState state;

	private long nowMillis;

	/** Creates an empty state whose values a plain JSON mapper converts. */
	public MemoryShardState() {
		this(new JsonMapper(), List.of());
	}

	/**
	 * Creates an empty state.
	 * @param mapper the mapper that converts values, for example the application's
	 * @param migrations the application's migrations, empty for none
	 */
	public MemoryShardState(JsonMapper mapper, Collection<? extends StateMigration<?>> migrations) {
		this.state = new JournaledState(Map.of(), new StateValues(mapper, migrations), null, false);
	}

	@Override
	public <T> Optional<T> get(String key, Class<T> type) {
		return call((view) -> view.get(key, type));
	}

	@Override
	public <T> Optional<T> get(String key, TypeReference<T> type) {
		return call((view) -> view.get(key, type));
	}

	@Override
	public void prefetch(Collection<String> keys) {
		call((view) -> {
			view.prefetch(keys);
			return keys;
		});
	}

	@Override
	public void put(String key, Object value) {
		call((view) -> {
			view.put(key, value);
			return value;
		});
	}

	@Override
	public void put(String key, Object value, Duration ttl) {
		call((view) -> {
			view.put(key, value, ttl);
			return value;
		});
	}

	@Override
	public void remove(String key) {
		call((view) -> {
			view.remove(key);
			return key;
		});
	}

	@Override
	public long increment(String key, long delta) {
		return call((view) -> view.increment(key, delta));
	}

	@Override
	public Set<String> keys(String prefix) {
		return call((view) -> view.keys(prefix));
	}

	/**
	 * Returns all values.
	 * @param type the type to convert every value to
	 * @param <T> the type of the values
	 * @return a copy, by key
	 * @throws IllegalArgumentException if a value cannot be converted
	 */
	public <T> Map<String, T> values(Class<T> type) {
		Map<String, T> values = new TreeMap<>();
		keys().forEach((key) -> get(key, type).ifPresent((value) -> values.put(key, value)));
		return values;
	}

	/**
	 * Lets time pass, so that values expire. It stands still otherwise.
	 * @param time the time, not negative
	 * @throws IllegalArgumentException if it is negative
	 */
	public void advance(Duration time) {
		Objects.requireNonNull(time, "time must not be null");
		if (time.isNegative()) {
			throw new IllegalArgumentException("time must not be negative: " + time);
		}
		this.nowMillis = Math.addExact(this.nowMillis, time.toMillis());
	}

	private <T> T call(Function<StateView, T> action) {
		try (StateView view = this.state.open(this.nowMillis)) {
			T result = action.apply(view);
			this.state.addCommittable(view);
			return result;
		}
	}

	@Override
	public String toString() {
		return values(Object.class).toString();
	}

}
