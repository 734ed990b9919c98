package io.github.shardkeeper.shard;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class NamesTests {

	@ParameterizedTest
	@ValueSource(strings = { "a", "7", "page-visits", "page_visits.v2", "A-Z" })
	void validNameIsAccepted(String name) {
		assertThat(Names.requireValid(name, "shardkeeper.group")).isEqualTo(name);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", " ", "a b", "-a", ".a", "_a", "{a}", "a}", "a:b", "a/b", "a~b", "é", "a\n", "a\u0000" })
	void invalidNameIsRefused(String name) {
		assertThat(Names.isValid(name)).isFalse();
	}

	@Test
	void everyCharacterIsCheckedAtTheBeginningAndAfterIt() {
		for (char character = 0; character < 0x3000; character++) {
			String text = String.valueOf(character);
			assertThat(Names.isValid(text)).as("%04x", (int) character).isEqualTo(text.matches("[A-Za-z0-9]"));
			assertThat(Names.isValid("a" + text + "a")).as("a%04xa", (int) character)
				.isEqualTo(text.matches("[A-Za-z0-9._-]"));
		}
	}

	@Test
	void namesHaveAHundredCharactersAtMost() {
		assertThat(Names.isValid("a".repeat(100))).isTrue();
		assertThat(Names.isValid("a".repeat(101))).isFalse();
	}

	@Test
	void errorNamesTheLocationAndTheRule() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> Names.requireValid("{a}", "shardkeeper.group"))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).isEqualTo("The name '{a}' in shardkeeper.group is not valid.");
				assertThat(ex.getAction()).isEqualTo(Names.RULE);
				assertThat(ex).hasMessage(ex.getDescription() + " " + ex.getAction());
			});
	}

	@Test
	void controlCharactersAreEscaped() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> Names.requireValid("a\nb\u0000", "here"))
			.withMessageContaining("'a\\u000ab\\u0000'");
	}

}
