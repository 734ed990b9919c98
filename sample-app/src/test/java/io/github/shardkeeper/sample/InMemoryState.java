package io.github.shardkeeper.sample;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.ShardState;

/** State as JSON in a map: as the real one, without a shard. */
final class InMemoryState implements ShardState {

	final Map<String, String> values = new LinkedHashMap<>();

	private final JsonMapper jsonMapper = new JsonMapper();

	@Override
	public <T> Optional<T> get(String key, Class<T> type) {
		return Optional.ofNullable(this.values.get(key)).map((json) -> this.jsonMapper.readValue(json, type));
	}

	@Override
	public void put(String key, Object value) {
		this.values.put(key, this.jsonMapper.writeValueAsString(value));
	}

	@Override
	public void remove(String key) {
		this.values.remove(key);
	}

	@Override
	public long increment(String key, long delta) {
		long value = get(key, Long.class).orElse(0L) + delta;
		put(key, value);
		return value;
	}

	@Override
	public Set<String> keys() {
		return Set.copyOf(this.values.keySet());
	}

}
