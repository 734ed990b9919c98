package io.github.shardkeeper.state.value;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonIgnore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.ToStringSerializer;

import io.github.shardkeeper.state.JournaledState;
import io.github.shardkeeper.state.StateView;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Values are converted as the application's mapper converts them, whether it is asked or
 * not; and Java records that are kept as objects are what their JSON would read back as.
 */
class StateValuesTests {

	private static final List<Class<?>> TYPES = List.of(Long.class, Integer.class, Boolean.class, String.class,
			Double.class, Object.class, long.class);

	private final JsonMapper mapper = new JsonMapper();

	private final StateValues values = new StateValues(this.mapper, List.of());

	static List<Object> simpleValues() {
		List<Object> all = new ArrayList<>(List.of(0L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, 999_999_999_999_999_999L, 0,
				-1, Integer.MAX_VALUE, Integer.MIN_VALUE, true, false, 0.1, 1e300, 'c', (short) 3, "", " ",
				"plain text", "null", "5", "true", "a \"quote\"", "back\\slash", "line\nbreak", "\u0000", "\u007f", "ü",
				"\ud83d\ude00", "a/b<c>&'", "x".repeat(999), "x".repeat(1_001)));
		for (char character = 0; character < 300; character++) {
			all.add(Character.toString(character));
		}
		return all;
	}

	@ParameterizedTest
	@MethodSource("simpleValues")
	void simpleValuesAreConvertedAsByTheMapper(Object value) {
		for (JsonMapper each : mappers()) {
			StateValues converted = new StateValues(each, List.of());
			String json = each.writeValueAsString(value);
			assertThat(converted.write(value)).isEqualTo(json);
			assertThat((Object) converted.read(json, value.getClass()))
				.isEqualTo(each.readValue(json, value.getClass()));
			if (converted.isPlainNumber(value)) {
				long number = ((Number) value).longValue();
				assertThat(Long.toString(number)).isEqualTo(json);
				for (Class<?> type : TYPES) {
					Object read = converted.read(number, type);
					assertThat(read).as("%s as %s", json, type)
						.isEqualTo((read != null) ? each.readValue(json, type) : null);
				}
			}
		}
	}

	@Test
	void numberIsReadByAMapperThatReadsNumbersInItsOwnWay() {
		JsonMapper negating = JsonMapper.builder()
			.addModule(new SimpleModule().addDeserializer(Long.class, new Negated()))
			.build();
		JournaledState state = new JournaledState(Map.of(), new StateValues(negating, List.of()), null, false);
		try (StateView view = state.open(0)) {
			view.increment("key", 5);
			assertThat(view.get("key", Long.class)).contains(-5L);
			assertThat(view.get("key", Integer.class)).contains(5);
			state.addCommittable(view);
		}
		assertThat(state.open(0).get("key", Long.class)).contains(-5L);
	}

	private static List<JsonMapper> mappers() {
		return List.of(new JsonMapper(),
				JsonMapper.builder()
					.addModule(new SimpleModule().addSerializer(Long.class, ToStringSerializer.instance))
					.build(),
				JsonMapper.builder().addModule(new SimpleModule().addDeserializer(String.class, new Trimmed())).build(),
				JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES).build(),
				JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build(),
				JsonMapper.builder().enable(JsonWriteFeature.WRITE_NUMBERS_AS_STRINGS).build());
	}

	@ParameterizedTest
	@ValueSource(strings = { "5", "-5", "-0", "007", "-", "", "+5", "5 ", "٣", "5.0", "1e3", "12345678901234567890",
			"2147483648", "999999999999999999", "1000000000000000000", "\"5\"", "\"\"", "\"", "\"a\"b\"",
			"\"a\\u0062\"", "\"unfinished", "true", "TRUE", "null", "[]", "{}" })
	void jsonIsReadAsByTheMapperWhateverItIs(String json) {
		for (Class<?> type : TYPES) {
			Throwable refused = catchThrowable(() -> this.mapper.readValue(json, type));
			if (refused == null) {
				assertThat((Object) this.values.read(json, type)).as("%s as %s", json, type)
					.isEqualTo(this.mapper.readValue(json, type));
			}
			else {
				assertThatExceptionOfType(JacksonException.class).as("%s as %s", json, type)
					.isThrownBy(() -> this.values.read(json, type))
					.withMessage(refused.getMessage());
			}
		}
	}

	@Test
	void immutableRecordIsTheSameObjectUntilItChanges() {
		JournaledState state = state(Map.of());
		Visit first = new Visit("ada", 1, Instant.EPOCH, new Point(1, 2));
		put(state, first);
		assertThat(read(state, Visit.class)).isSameAs(first);
		Visit second = new Visit("ada", 2, Instant.EPOCH, new Point(1, 2));
		put(state, second);
		assertThat(read(state, Visit.class)).isSameAs(second);
		assertThat(state.committableEntries()).containsEntry("key", this.mapper.writeValueAsString(second));
	}

	@Test
	void recordIsReadOnce() {
		JournaledState state = state(Map.of("key", "{\"x\":1,\"y\":2}"));
		Point read = read(state, Point.class);
		assertThat(read).isEqualTo(new Point(1, 2));
		assertThat(read(state, Point.class)).isSameAs(read);
		assertThat(read(state, Other.class)).isEqualTo(new Other(1, 2));
	}

	@Test
	void callThatFailedLeavesNoRecordBehind() {
		JournaledState state = state(Map.of("key", "{\"x\":1,\"y\":2}"));
		try (StateView failed = state.open(0)) {
			failed.put("key", new Point(3, 4));
			assertThat(failed.get("key", Point.class)).contains(new Point(3, 4));
		}
		assertThat(read(state, Point.class)).isEqualTo(new Point(1, 2));
	}

	@Test
	void keyThatNeedsTheSamePlaceReadsItsOwnRecord() {
		JournaledState state = state(Map.of());
		try (StateView view = state.open(0)) {
			for (int i = 0; i < 2_000; i++) {
				view.put("key-" + i, new Point(i, -i));
			}
			for (int i = 0; i < 2_000; i++) {
				assertThat(view.get("key-" + i, Point.class)).contains(new Point(i, -i));
			}
		}
	}

	@Test
	void recordThatCanBeChangedIsCopied() {
		JournaledState state = state(Map.of());
		WithList list = new WithList(new ArrayList<>(List.of("a")));
		put(state, list);
		list.all().add("b");
		WithList read = read(state, WithList.class);
		assertThat(read.all()).containsExactly("a");
		read.all().add("c");
		assertThat(read(state, WithList.class).all()).containsExactly("a");
	}

	@Test
	void recordWithAnAnnotationIsWhatItsJsonSays() {
		JournaledState state = state(Map.of());
		put(state, new Partly("kept", "dropped"));
		assertThat(read(state, Partly.class)).isEqualTo(new Partly("kept", null));
	}

	@Test
	void recordWhoseConstructorChangesItIsWhatItsJsonSays() {
		JournaledState state = state(Map.of());
		Growing put = new Growing(1);
		put(state, put);
		assertThat(read(state, Growing.class)).isEqualTo(new Growing(put.number()));
		assertThat(read(state, Growing.class).number()).isEqualTo(3);
	}

	@Test
	void recordThatCannotBeReadFailsWhenItIsRead() {
		JournaledState state = state(Map.of());
		put(state, new Small(5));
		put(state, new Small(-5));
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> read(state, Positive.class));
	}

	private JournaledState state(Map<String, String> entries) {
		return new JournaledState(entries, this.values, null, false);
	}

	private static void put(JournaledState state, Object value) {
		try (StateView view = state.open(0)) {
			view.put("key", value);
			state.addCommittable(view);
		}
	}

	private static <T> T read(JournaledState state, Class<T> type) {
		try (StateView view = state.open(0)) {
			return view.get("key", type).orElseThrow();
		}
	}

	record Visit(String name, long count, Instant last, Point where) {

	}

	record Point(int x, int y) {

	}

	record Other(int x, int y) {

	}

	record WithList(List<String> all) {

	}

	record Partly(String kept, @JsonIgnore String dropped) {

	}

	record Growing(int number) {

		Growing {
			number++;
		}

	}

	record Small(int number) {

	}

	record Positive(int number) {

		Positive {
			if (number < 0) {
				throw new IllegalArgumentException("negative");
			}
		}

	}

	private static final class Negated extends StdDeserializer<Long> {

		Negated() {
			super(Long.class);
		}

		@Override
		public Long deserialize(JsonParser parser, DeserializationContext context) {
			return -parser.getLongValue();
		}

	}

	private static final class Trimmed extends StdDeserializer<String> {

		Trimmed() {
			super(String.class);
		}

		@Override
		public String deserialize(JsonParser parser, DeserializationContext context) {
			return parser.getString().trim();
		}

	}

}
