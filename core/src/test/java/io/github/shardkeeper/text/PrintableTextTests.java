package io.github.shardkeeper.text;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class PrintableTextTests {

	@ParameterizedTest
	@ValueSource(strings = { "\n", "\r", "\t", "\0", "\u0085", "\u2028", "\u2029", "\u001b", "\u007f", "\u009b",
			"\u202e", "\u2066", "\u200f", "\ud83d", "\ude00" })
	void unprintableCharacterIsASpace(String hostile) {
		assertThat(PrintableText.of("a" + hostile + "b")).isEqualTo("a b");
		assertThat(PrintableText.quoted("a" + hostile + "b", 100)).matches("a\\\\u[0-9a-f]{4}b");
	}

	@Test
	void othersStay() {
		assertThat(PrintableText.of("Größe 数 \ud83d\ude00 a\u200db")).isEqualTo("Größe 数 \ud83d\ude00 a\u200db");
	}

	@Test
	void longTextIsCutBetweenCharacters() {
		assertThat(PrintableText.of("abcd", 4)).isEqualTo("abcd");
		assertThat(PrintableText.of("abcde", 4)).isEqualTo("abc…");
		assertThat(PrintableText.of("ab\ud83d\ude00e", 4)).isEqualTo("ab…");
	}

}
