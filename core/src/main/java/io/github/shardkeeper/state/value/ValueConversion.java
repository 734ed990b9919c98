package io.github.shardkeeper.state.value;

import java.lang.reflect.Type;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;

import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.text.FailureText;
import io.github.shardkeeper.text.PrintableText;

/**
 * Conversion between values of handlers and what is stored of them in one shard's state,
 * with failures that name the key. Thread-safe.
 */
public final class ValueConversion {

	private static final int MAX_KEY_LENGTH_SHOWN = 100;

	private final StateValues values;

	private final KeptRecords kept = new KeptRecords();

	public ValueConversion(StateValues values) {
		this.values = values;
	}

	/** Returns the value of what is stored; {@code null} for the JSON {@code null}. */
	public <T> @Nullable T read(String key, String stored, Class<T> type) {
		T keptValue = this.kept.find(key, stored, type);
		if (keptValue != null) {
			return keptValue;
		}
		T value = converted(key, type, () -> this.values.read(ExpiringValues.value(stored), type));
		if (value != null && this.values.isImmutableRecord(type)) {
			this.kept.keep(key, stored, value);
		}
		return value;
	}

	/** Does the same for a generic type. */
	public <T> @Nullable T read(String key, String stored, TypeReference<T> type) {
		return converted(key, type.getType(), () -> this.values.read(ExpiringValues.value(stored), type));
	}

	/**
	 * Returns a number that is not a text yet as a value; {@code null} if its JSON has to
	 * be converted.
	 */
	public <T> @Nullable T read(long number, Class<T> type) {
		return this.values.read(number, type);
	}

	private static <T> @Nullable T converted(String key, Type type, Supplier<@Nullable T> conversion) {
		try {
			return conversion.get();
		}
		catch (JacksonException ex) {
			throw unreadable(key, type, ex.getOriginalMessage(), ex);
		}
		catch (ValueVersionException ex) {
			throw unreadable(key, type, ex.reason(), ex);
		}
		catch (VirtualMachineError ex) {
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			// From a deserializer, a migration or the class itself.
			throw unreadable(key, type, ex.toString(), ex);
		}
	}

	/** Returns what is stored of a value as a whole number, 0 for none. */
	public static long number(String key, @Nullable String stored) {
		if (stored == null) {
			return 0;
		}
		String value = ExpiringValues.value(stored);
		try {
			return Long.parseLong(value);
		}
		catch (NumberFormatException ex) {
			throw unreadable(key, Long.class, "It is not a whole number: " + value, ex);
		}
	}

	private static UnreadableStateException unreadable(String key, Type type, String reason, Throwable cause) {
		return new UnreadableStateException(shown(key), type, PrintableText.of(reason), cause);
	}

	/** Returns a key as a failure shows it. */
	public static String shown(String key) {
		return PrintableText.of(key, MAX_KEY_LENGTH_SHOWN);
	}

	/** Returns whether a value is a whole number whose JSON is its digits. */
	public boolean isPlainNumber(Object value) {
		return this.values.isPlainNumber(value);
	}

	/** Returns a value as JSON. */
	public String write(String key, Object value) {
		try {
			return this.values.write(value);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException(
					"The value for key '%s' of type %s cannot be written as JSON: %s".formatted(PrintableText.of(key),
							value.getClass().getName(), FailureText.ofWritingJson(ex.getOriginalMessage())),
					ex);
		}
		catch (ValueVersionException ex) {
			throw new IllegalArgumentException("The value for key '%s' of type %s cannot be stored: %s"
				.formatted(PrintableText.of(key), value.getClass().getName(), PrintableText.of(ex.reason())), ex);
		}
	}

	/**
	 * Keeps a value that was written, so that it need not be read back.
	 * @param json the value as JSON
	 * @param stored what is to be stored of it
	 */
	public void written(String key, Object value, String json, String stored) {
		if (this.values.mayBeKept(value, json)) {
			this.kept.keep(key, stored, value);
		}
	}

}
