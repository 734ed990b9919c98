package io.github.shardkeeper.protocol;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MemberProblemsTests {

	private static Map<ShardId, String> problems(int shards, String format) {
		return IntStream.range(0, shards)
			.boxed()
			.collect(Collectors.toMap((number) -> ShardId.of("orders", number), (number) -> format.formatted(number)));
	}

	@Test
	void noProblemsAreNoText() {
		assertThat(MemberProblems.of(Map.of()).text()).isEmpty();
	}

	@Test
	void shardsWithTheSameProblemAreOneLine() {
		Map<ShardId, String> problems = new TreeMap<>(problems(4, "away"));
		problems.put(ShardId.of("orders", 7), "away");
		problems.put(new ShardId("orders", "a-1"), "away");
		problems.put(ShardId.of("visits", 0), "away");
		problems.put(ShardId.of("visits", 1), "poisoned");

		MemberProblems shared = MemberProblems.of(problems);

		assertThat(shared.text()).isEqualTo("1 0\norders:0~3,7,a-1 visits:0\taway\nvisits:1\tpoisoned");
		assertThat(MemberProblems.parse(shared.text())).isEqualTo(shared);
		assertThat(shared.texts()).isEqualTo(problems);
	}

	@Test
	@Tag("proof")
	void manyShardsWithOneProblemFit() {
		MemberProblems shared = MemberProblems.of(problems(100_000, "Records cannot be read"));

		assertThat(shared.more()).isZero();
		assertThat(shared.text()).hasSizeLessThan(100);
		assertThat(MemberProblems.parse(shared.text()).texts()).hasSize(100_000);
	}

	@Test
	void problemsAreShortenedUntilTheyFit() {
		MemberProblems few = MemberProblems.of(problems(2, "%05d" + "x".repeat(10_000)));
		MemberProblems some = MemberProblems.of(problems(60, "%05d" + "x".repeat(10_000)));
		MemberProblems many = MemberProblems.of(problems(1_000, "%05d" + "x".repeat(10_000)));

		assertThat(few.texts().values()).allMatch((text) -> text.length() == 500 && text.endsWith("…"));
		assertThat(some.more()).isZero();
		assertThat(some.texts().values()).allMatch((text) -> text.length() == 200);
		assertThat(many.texts().size()).isGreaterThan(100);
		assertThat(many.more()).isEqualTo(1_000 - many.texts().size());
		for (MemberProblems shared : new MemberProblems[] { few, some, many }) {
			assertThat(shared.text()).hasSizeLessThanOrEqualTo(MemberProblems.MAX_LENGTH);
			assertThat(MemberProblems.parse(shared.text())).isEqualTo(shared);
		}
	}

	@Test
	void lineBreaksAndTabsCannotForgeLines() {
		MemberProblems shared = MemberProblems.of(Map.of(ShardId.of("orders", 1), "a\nvisits:1\tb\r\u0000<b>"));

		assertThat(MemberProblems.parse(shared.text()).texts())
			.isEqualTo(Map.of(ShardId.of("orders", 1), "a visits:1 b  <b>"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "2 0\norders:1\taway", "1", "1 x", "1 0\norders:1", "1 0\norders\taway",
			"1 0\norders:\taway", "1 0\n:1\taway", "1 0\norders:5~1\taway", "1 0\norders:0~999999999\taway",
			"1 0\norders:a~b\taway", "{\"orders\":1}", "1 0\n\n" })
	void otherTextsAreRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> MemberProblems.parse(text));
	}

	@Test
	void tooLongTextIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> MemberProblems.parse("1 0\norders:1\t" + "x".repeat(MemberProblems.MAX_LENGTH)));
	}

}
