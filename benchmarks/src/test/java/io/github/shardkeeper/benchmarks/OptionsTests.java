package io.github.shardkeeper.benchmarks;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Options are parsed, or refused by name.
 */
class OptionsTests {

	private static final Set<String> KNOWN = Set.of("rounds", "settings");

	private static final List<Contender> CONTENDERS = Stream.of("Shardkeeper", "Kafka range", "Kafka new protocol")
		.map((text) -> (Contender) () -> text)
		.toList();

	@Test
	void withoutOptionsEverythingIsAsItIsKnownToBe() {
		Options options = Options.parse();

		options.requireOnly(KNOWN);
		assertThat(options.number("rounds", 5, 1)).isEqualTo(5);
		assertThat(options.numbers("shards", List.of(1, 32), 1)).containsExactly(1, 32);
		assertThat(options.choice("order", List.of("new", "old"), "new")).isEqualTo("new");
		assertThat(options.choices("parts", List.of("a", "b", "c"), List.of("a", "b"))).containsExactly("a", "b");
		assertThat(options.matching("contenders", CONTENDERS)).isEqualTo(CONTENDERS);
	}

	@Test
	void optionIsReadAsWritten() {
		Options options = Options.parse("--rounds=7", "--shards=2, 3;4", "--order=OLD", "--parts=c,A",
				"--contenders=new,Shard");

		assertThat(options.number("rounds", 5, 1)).isEqualTo(7);
		assertThat(options.numbers("shards", List.of(1), 1)).containsExactly(2, 3, 4);
		assertThat(options.choice("order", List.of("new", "old"), "new")).isEqualTo("old");
		assertThat(options.choices("parts", List.of("a", "b", "c"), List.of("b"))).containsExactly("c", "a");
		assertThat(options.matching("contenders", CONTENDERS)).extracting(Contender::text)
			.containsExactly("Shardkeeper", "Kafka new protocol");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tightest", "-settings=6s", "settings=6s" })
	void otherWordIsRefused(String word) {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--rounds=1", word).requireOnly(KNOWN))
			.withMessageContainingAll("'" + word + "' is no option", "only --rounds=…, --settings=…", "two hyphens");
	}

	@Test
	void unknownOptionIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--round=1").requireOnly(KNOWN))
			.withMessage("There is no option --round, only --rounds=…, --settings=…");
	}

	@Test
	void optionWithoutValueIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--settings", "6s"))
			.withMessageContaining("--settings=…");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "five", "1.5", "1_000", "0", "-1", "99999999999" })
	void invalidNumberIsRefused(String value) {
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--rounds=" + value).number("rounds", 5, 1))
			.withMessageContainingAll("--rounds takes whole numbers from 1 to", "not '" + value + "'", "--rounds=5");
	}

	@Test
	void withoutALeastNumberThereIsZeroButNothingNegative() {
		assertThat(Options.parse("--warm-up=0").number("warm-up", 2)).isZero();
		assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--warm-up=-1").number("warm-up", 2))
			.withMessageContaining("--warm-up takes whole numbers from 0");
	}

	@Test
	void listWithAnInvalidNumberIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Options.parse("--shards=10,many").numbers("shards", List.of(1, 32), 1))
			.withMessageContainingAll("--shards takes", "not 'many'", "--shards=1,32");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a,", ",a", "a,,b" })
	void listWithAnEmptyPlaceIsRefused(String value) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Options.parse("--parts=" + value).list("parts", List.of()))
			.withMessageContaining("--parts=" + value);
	}

	@Test
	void unknownWordIsRefusedWithTheKnownOnes() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Options.parse("--settings=6s,tightest")
				.choice("settings", List.of("default", "6s", "tightest"), "default"))
			.withMessage("--settings knows no '6s,tightest', only default, 6s, tightest");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Options.parse("--events=join,kil").choices("events", List.of("join", "kill"), List.of()))
			.withMessage("--events knows no 'kil', only join, kill");
	}

	@Test
	void unknownPartOfANameIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Options.parse("--contenders=Kafka,Kafak").matching("contenders", CONTENDERS))
			.withMessage("--contenders knows no 'Kafak', only Shardkeeper; Kafka range; Kafka new protocol");
	}

}
