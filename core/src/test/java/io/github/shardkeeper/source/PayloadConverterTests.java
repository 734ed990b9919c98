package io.github.shardkeeper.source;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.ResolvableType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

public class PayloadConverterTests {

	private static final Type VISITS = ResolvableType.forClassWithGenerics(List.class, Visit.class).getType();

	private final PayloadConverter converter = new JsonPayloadConverter(new JsonMapper());

	@Test
	void bytesAreNotConverted() {
		byte[] bytes = { 0, -1, 127 };

		assertThat(this.converter.write(bytes)).isSameAs(bytes);
		assertThat(this.converter.read(bytes, byte[].class)).isSameAs(bytes);
	}

	@Test
	void textIsUtf8AndNotJson() {
		assertThat(this.converter.write("grün \"1\"")).isEqualTo("grün \"1\"".getBytes(StandardCharsets.UTF_8));
		assertThat(this.converter.read(bytes("grün \"1\""), String.class)).isEqualTo("grün \"1\"");
	}

	@Test
	void otherTypesAreJson() {
		assertThat(new String(this.converter.write(new Visit("c", 2)), StandardCharsets.UTF_8))
			.isEqualTo("{\"client\":\"c\",\"pages\":2}");
		assertThat(this.converter.read(bytes("{\"client\":\"c\",\"pages\":2}"), Visit.class))
			.isEqualTo(new Visit("c", 2));
		assertThat(this.converter.read(bytes("7"), long.class)).isEqualTo(7L);
		assertThat(this.converter.read(bytes("{\"a\":1}"), Object.class)).isEqualTo(Map.of("a", 1));
	}

	@Test
	void typesMayBeGeneric() {
		assertThat(this.converter.read(bytes("[{\"client\":\"c\",\"pages\":2}]"), VISITS))
			.isEqualTo(List.of(new Visit("c", 2)));
	}

	@Test
	void bytesOfAnotherTypeAreRejected() {
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> this.converter.read(bytes("nonsense"), Visit.class))
			.withMessageContaining("Visit");
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> this.converter.read(bytes("{}"), VISITS))
			.withMessageContaining("java.util.List<");
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> this.converter.read(new byte[0], Visit.class));
	}

	@Test
	void nullIsRejected() {
		assertThatExceptionOfType(PayloadConversionException.class)
			.isThrownBy(() -> this.converter.read(bytes("null"), Visit.class))
			.withMessageContaining("null");
	}

	@Test
	void unwritableValuesAreRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.converter.write(new Endless()))
			.withMessageContaining(Endless.class.getName());
	}

	@Test
	void objectsWithoutPropertiesAreRejected() {
		for (Object payload : List.of(new Object(), new Hidden(1), List.of(new Hidden(1)))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.converter.write(payload))
				.withMessageContaining(payload.getClass().getName())
				.withMessageContaining("would be written as {}; give the class getters, or make it a record");
		}
		assertThat(bytes("{}")).as("a record says that it has none").isEqualTo(this.converter.write(new Ping()));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	record Visit(String client, int pages) {

	}

	record Ping() {

	}

	static final class Hidden {

		private final int pages;

		Hidden(int pages) {
			this.pages = pages;
		}

		@Override
		public String toString() {
			return "Hidden " + this.pages;
		}

	}

	public static final class Endless {

		public Endless getSelf() {
			return this;
		}

	}

}
