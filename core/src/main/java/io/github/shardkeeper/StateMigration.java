package io.github.shardkeeper;

import java.util.Objects;
import java.util.function.BiFunction;

import tools.jackson.databind.JsonNode;

/**
 * How stored values of a class become values of the class as it is now, after its meaning
 * or its JSON has changed. An application declares one as a bean for each class of values
 * in {@link ShardState} that has a version. Values that were stored before count as
 * version 1.
 * <p>
 * {@link ShardState#get} and {@link ShardStateReader} convert a value when it is read. It
 * is stored in its new form when a handler puts it again. A value of a version that is
 * not known here, and one that cannot be converted, is an
 * {@link UnreadableStateException}: its shard halts and loses nothing.
 * <p>
 * <b>Not guaranteed.</b> Only values have a version, not what they contain: the migration
 * of an element of a list is never called.
 * <p>
 * Must be thread-safe, and must not call other systems: calls of handlers wait for it.
 *
 * @param <T> the class of the values
 */
public interface StateMigration<T> {

	/**
	 * Returns the class of the values. It also applies to subclasses, unless they have a
	 * migration of their own.
	 * @return the class; not one that JSON has itself, such as a text or a number
	 */
	Class<T> type();

	/**
	 * Returns the version of the class as it is now.
	 * @return the version, at least 2
	 */
	int version();

	/**
	 * Converts the JSON of an earlier version to JSON of the version now.
	 * @param value the value; may be changed and returned
	 * @param from the version of the value, at least 1 and less than {@link #version()}
	 * @return the JSON, not {@code null}
	 * @throws RuntimeException if it cannot be converted: the shard halts
	 */
	JsonNode upgrade(JsonNode value, int from);

	/**
	 * Returns the version in which values are stored. An earlier one keeps them readable
	 * for instances that run the version of the application before, in a rolling
	 * deployment and after a rollback.
	 * @return the version, from 1 to {@link #version()}, which is the default
	 */
	default int storedVersion() {
		return version();
	}

	/**
	 * Converts JSON of the version now to JSON of the version in which values are stored.
	 * Only called if that is an earlier one.
	 * @param value the value; may be changed and returned
	 * @return the JSON, not {@code null}
	 * @throws RuntimeException if it cannot be converted: the call of
	 * {@link ShardState#put} ends with it
	 */
	default JsonNode downgrade(JsonNode value) {
		throw new UnsupportedOperationException(
				"%s.storedVersion() is an earlier version, so downgrade(JsonNode) has to be implemented"
					.formatted(getClass().getName()));
	}

	/**
	 * Returns a migration that stores values in the version now.
	 * @param type the class of the values
	 * @param version the version of the class as it is now, at least 2
	 * @param upgrade as {@link #upgrade}
	 * @param <T> the class of the values
	 * @return the migration
	 */
	static <T> StateMigration<T> of(Class<T> type, int version, BiFunction<JsonNode, Integer, JsonNode> upgrade) {
		Objects.requireNonNull(type, "type must not be null");
		Objects.requireNonNull(upgrade, "upgrade must not be null");
		return new StateMigration<>() {

			@Override
			public Class<T> type() {
				return type;
			}

			@Override
			public int version() {
				return version;
			}

			@Override
			public JsonNode upgrade(JsonNode value, int from) {
				return upgrade.apply(value, from);
			}

			@Override
			public String toString() {
				return "migration of %s to version %d".formatted(type.getName(), version);
			}

		};
	}

}
