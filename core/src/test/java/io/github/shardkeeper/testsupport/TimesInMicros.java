package io.github.shardkeeper.testsupport;

import java.util.List;
import java.util.function.LongUnaryOperator;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.StateMigration;

/**
 * A class whose times changed their meaning, but not their names: milliseconds in version
 * 1, microseconds in version 2. As in a rolling deployment, some instances still store
 * version 1, and each reads both. Immutable.
 *
 * @param <T> the class of the values
 */
public final class TimesInMicros<T> implements StateMigration<T> {

	private static final int MICROS_PER_MILLI = 1000;

	private final Class<T> type;

	private final List<String> times;

	private final int storedVersion;

	/**
	 * Creates a migration.
	 * @param times the names of the properties that are times
	 * @param instance the instance, whose name decides which version it stores
	 */
	public TimesInMicros(Class<T> type, List<String> times, String instance) {
		this.type = type;
		this.times = List.copyOf(times);
		this.storedVersion = 1 + Math.floorMod(instance.hashCode(), 2);
	}

	@Override
	public Class<T> type() {
		return this.type;
	}

	@Override
	public int version() {
		return 2;
	}

	@Override
	public int storedVersion() {
		return this.storedVersion;
	}

	@Override
	public JsonNode upgrade(JsonNode value, int from) {
		return withTimes(value, (millis) -> Math.multiplyExact(millis, MICROS_PER_MILLI));
	}

	@Override
	public JsonNode downgrade(JsonNode value) {
		return withTimes(value, (micros) -> micros / MICROS_PER_MILLI);
	}

	private JsonNode withTimes(JsonNode value, LongUnaryOperator conversion) {
		ObjectNode object = (ObjectNode) value;
		this.times.forEach((time) -> object.put(time, conversion.applyAsLong(object.get(time).longValue())));
		return object;
	}

}
