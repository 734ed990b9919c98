package io.github.shardkeeper.state.value;

import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.text.EncodableText;

/**
 * Conversion of the values of {@link io.github.shardkeeper.ShardState} to JSON and back,
 * with the application's mapper. Whole numbers, booleans and plain texts are converted
 * without it, where it does the same: a mapper that writes one of these types in its own
 * way converts all values of this type itself. Immutable, thread-safe.
 */
public final class StateValues {

	/** So many digits always fit into the type. */
	private static final int LONG_DIGITS = 18;

	private static final int INTEGER_DIGITS = 9;

	/** Least number with more digits. */
	private static final long LONG_LIMIT = 1_000_000_000_000_000_000L;

	private static final long INTEGER_LIMIT = 1_000_000_000;

	/** Longer texts take more time to copy than the mapper takes besides. */
	private static final int MAX_PLAIN_LENGTH = 1_000;

	private static final Set<Class<?>> IMMUTABLE_TYPES = Set.of(String.class, Boolean.class, Byte.class, Short.class,
			Integer.class, Long.class, Float.class, Double.class, Character.class, BigInteger.class, BigDecimal.class,
			UUID.class, Instant.class, Duration.class, LocalDate.class, LocalTime.class, LocalDateTime.class,
			OffsetDateTime.class, ZonedDateTime.class);

	private final JsonMapper mapper;

	/** Refuses what has no properties: it would be stored as {@code {}} in silence. */
	private final ObjectWriter writer;

	/**
	 * Found out when a value is first converted, so that a start does not wait for it.
	 */
	private volatile @Nullable PlainTypes plainTypes;

	private final VersionedValues versions;

	private final Map<Class<?>, RecordType> recordTypes = new ConcurrentHashMap<>();

	/**
	 * Creates values that a mapper converts.
	 * @param mapper the application's mapper
	 * @param migrations the migrations of values that earlier classes have written
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if one is not
	 * possible, or a class has several
	 */
	public StateValues(JsonMapper mapper, Collection<? extends StateMigration<?>> migrations) {
		this.mapper = mapper;
		this.versions = new VersionedValues(mapper, migrations);
		this.writer = mapper.writer(SerializationFeature.FAIL_ON_EMPTY_BEANS);
	}

	/** Returns the application's mapper. */
	public JsonMapper mapper() {
		return this.mapper;
	}

	/**
	 * Converts a value to JSON.
	 * @throws JacksonException if it cannot be written
	 * @throws IllegalArgumentException if UTF-8 cannot represent it
	 */
	String write(Object value) {
		PlainTypes plain = plainTypes();
		if (value instanceof Long && plain.longs() || value instanceof Integer && plain.integers()
				|| value instanceof Boolean && plain.booleans()) {
			return value.toString();
		}
		if (value instanceof String text && plain.texts() && isPlain(text, 0, text.length())) {
			return quoted(text);
		}
		String json = this.writer.writeValueAsString(value);
		EncodableText.require(json, "Its JSON");
		return this.versions.stored(value, json);
	}

	/**
	 * Converts JSON to a value.
	 * @return the value; {@code null} for the JSON {@code null}
	 * @throws JacksonException if it cannot be converted
	 * @throws IllegalArgumentException if its version cannot be read here
	 */
	public <T> @Nullable T read(String json, Class<T> type) {
		PlainTypes plain = plainTypes();
		if (type == Long.class && plain.longs() && isWholeNumber(json, LONG_DIGITS)) {
			return type.cast(Long.valueOf(json));
		}
		if (type == Integer.class && plain.integers() && isWholeNumber(json, INTEGER_DIGITS)) {
			return type.cast(Integer.valueOf(json));
		}
		if (type == String.class && plain.texts() && isQuoted(json)) {
			return type.cast(json.substring(1, json.length() - 1));
		}
		if (type == Boolean.class && plain.booleans() && (json.equals("true") || json.equals("false"))) {
			return type.cast(Boolean.valueOf(json));
		}
		return read(json, this.mapper.constructType(type));
	}

	/** Converts JSON to a value of a generic type, like {@link #read(String, Class)}. */
	<T> @Nullable T read(String json, TypeReference<T> reference) {
		return read(json, this.mapper.constructType(reference));
	}

	private <T> @Nullable T read(String json, JavaType type) {
		return this.versions.isVersioned(json, type.getRawClass()) ? this.versions.read(json, type)
				: this.mapper.readValue(json, type);
	}

	/**
	 * Returns whether a value is a whole number that the mapper writes as its digits.
	 */
	boolean isPlainNumber(Object value) {
		return value instanceof Long && plainTypes().longs() || value instanceof Integer && plainTypes().integers();
	}

	/**
	 * Converts a whole number without its JSON.
	 * @return the value; {@code null} if its JSON has to be converted
	 */
	<T> @Nullable T read(long number, Class<T> type) {
		if (type == Long.class && plainTypes().longs() && -LONG_LIMIT < number && number < LONG_LIMIT) {
			return type.cast(number);
		}
		if (type == Integer.class && plainTypes().integers() && -INTEGER_LIMIT < number && number < INTEGER_LIMIT) {
			return type.cast((int) number);
		}
		return null;
	}

	private PlainTypes plainTypes() {
		PlainTypes known = this.plainTypes;
		if (known == null) {
			known = PlainTypes.of(this.mapper);
			this.plainTypes = known;
		}
		return known;
	}

	/** Returns whether it is a Java record that nobody can change. */
	boolean isImmutableRecord(Class<?> type) {
		return type.isRecord() && recordType(type).immutable;
	}

	/**
	 * Returns whether a value may be handed out again instead of what its JSON reads back
	 * as. Both are equal for records that leave their JSON to the mapper. For what cannot
	 * be seen, such as a constructor that changes what it gets, the JSON of some values
	 * is read.
	 */
	boolean mayBeKept(Object value, String json) {
		if (!(value instanceof Record) || this.versions.storesEarlierVersion(value.getClass())) {
			return false;
		}
		RecordType type = recordType(value.getClass());
		return type.immutable && type.readsBackEqual(value, json, this);
	}

	private RecordType recordType(Class<?> type) {
		RecordType known = this.recordTypes.get(type);
		return (known != null) ? known
				: this.recordTypes.computeIfAbsent(type, (unseen) -> new RecordType(isImmutable(unseen)));
	}

	private static boolean isImmutable(Class<?> type) {
		return IMMUTABLE_TYPES.contains(type) || type.isPrimitive() || type.isEnum()
				|| type.isRecord() && !isAnnotatedForJson(type) && Arrays.stream(type.getRecordComponents())
					.allMatch((component) -> component.getType() != type && isImmutable(component.getType()));
	}

	private static boolean isAnnotatedForJson(Class<?> type) {
		Stream<AnnotatedElement> members = Stream
			.of(type.getDeclaredFields(), type.getDeclaredMethods(), type.getDeclaredConstructors())
			.flatMap(Arrays::stream);
		Stream<Annotation> ofParameters = Arrays.stream(type.getDeclaredConstructors())
			.flatMap((constructor) -> Arrays.stream(constructor.getParameterAnnotations()))
			.flatMap(Arrays::stream);
		return Stream
			.concat(ofParameters,
					Stream.concat(Stream.of(type), members)
						.flatMap((member) -> Arrays.stream(member.getDeclaredAnnotations())))
			.anyMatch((annotation) -> annotation.annotationType().getName().contains(".jackson."));
	}

	/** Whether it is a whole number as JSON has it, without a leading zero. */
	private static boolean isWholeNumber(String json, int maxDigits) {
		int begin = json.startsWith("-") ? 1 : 0;
		int digits = json.length() - begin;
		if (digits < 1 || digits > maxDigits || digits > 1 && json.charAt(begin) == '0') {
			return false;
		}
		for (int i = begin; i < json.length(); i++) {
			if (json.charAt(i) < '0' || json.charAt(i) > '9') {
				return false;
			}
		}
		return true;
	}

	private static boolean isQuoted(String json) {
		int last = json.length() - 1;
		return last > 0 && json.charAt(0) == '"' && json.charAt(last) == '"' && isPlain(json, 1, last);
	}

	private static boolean isPlain(String text, int begin, int end) {
		if (end - begin > MAX_PLAIN_LENGTH) {
			return false;
		}
		for (int i = begin; i < end; i++) {
			if (!isPlain(text.charAt(i))) {
				return false;
			}
		}
		return true;
	}

	/** Whether a mapper may write the character as it is. */
	private static boolean isPlain(char character) {
		return character >= ' ' && character <= '~' && character != '"' && character != '\\';
	}

	private static String quoted(String text) {
		return '"' + text + '"';
	}

	/** What is known of a Java record. Thread-safe. */
	private static final class RecordType {

		private final boolean immutable;

		private final AtomicLong written = new AtomicLong();

		private volatile boolean unequal;

		RecordType(boolean immutable) {
			this.immutable = immutable;
		}

		/** Reads the JSON of the first value, the second, the fourth, the eighth … */
		boolean readsBackEqual(Object value, String json, StateValues values) {
			if (this.unequal) {
				return false;
			}
			if (Long.bitCount(this.written.incrementAndGet()) == 1) {
				this.unequal = !isEqual(value, json, values);
			}
			return !this.unequal;
		}

		private static boolean isEqual(Object value, String json, StateValues values) {
			try {
				return value.equals(values.read(json, value.getClass()));
			}
			catch (JacksonException | ValueVersionException ex) {
				// A call that reads it gets this failure.
				return false;
			}
		}

	}

	/** Types that the mapper writes and reads as they are. */
	private record PlainTypes(boolean integers, boolean longs, boolean booleans, boolean texts) {

		private static final List<Object> INTEGERS = List.of(0, 1, -1, 10, Integer.MAX_VALUE, Integer.MIN_VALUE);

		private static final List<Object> LONGS = List.of(0L, 1L, -1L, 10L, Long.MAX_VALUE, Long.MIN_VALUE);

		static PlainTypes of(JsonMapper mapper) {
			return new PlainTypes(INTEGERS.stream().allMatch((number) -> isPlain(number, number.toString(), mapper)),
					LONGS.stream().allMatch((number) -> isPlain(number, number.toString(), mapper)),
					Stream.of(true, false).allMatch((either) -> isPlain(either, either.toString(), mapper)),
					Stream.of(everyPlainCharacter(), "", " ", "null", "5", "true")
						.allMatch((text) -> isPlain(text, quoted(text), mapper)));
		}

		/** Also with a space at both ends. */
		private static String everyPlainCharacter() {
			StringBuilder every = new StringBuilder();
			for (char character = ' '; character <= '~'; character++) {
				if (StateValues.isPlain(character)) {
					every.append(character);
				}
			}
			return every.append(' ').toString();
		}

		/** Whether the mapper writes a value as this JSON, and reads it as this value. */
		private static boolean isPlain(Object value, String json, JsonMapper mapper) {
			try {
				return mapper.writeValueAsString(value).equals(json)
						&& value.equals(mapper.readValue(json, value.getClass()));
			}
			catch (JacksonException ex) {
				// The mapper refuses such values, and has to say so itself.
				return false;
			}
		}

	}

}
