package io.github.shardkeeper.shard;

import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ShardIdTests {

	@Test
	void shardIsWrittenAsTopicAndId() {
		assertThat(ShardId.of("orders", 7)).hasToString("orders/7").isEqualTo(new ShardId("orders", "7"));
		assertThat(ShardId.parse("orders/7")).isEqualTo(ShardId.of("orders", 7));
	}

	@Test
	void numbersAreOrderedByValueWithinTheirTopicBeforeNames() {
		List<String> ordered = List.of("a/0", "a/2", "a/10", "a/100", "a/east", "a/west", "b/1");

		assertThat(new TreeSet<>(
				Stream.of("a/100", "b/1", "a/west", "a/10", "a/east", "a/0", "a/2").map(ShardId::parse).toList()))
			.map(ShardId::toString)
			.containsExactlyElementsOf(ordered);
	}

	@Test
	void orderIsConsistentWithEquals() {
		assertThat(ShardId.parse("a/1")).isEqualByComparingTo(ShardId.of("a", 1));
		assertThat(ShardId.parse("a/01").compareTo(ShardId.parse("a/1"))).isNotZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "orders", "/1", "orders/", "orders/1/2", "or{ders/1", "orders/ 1" })
	void malformedShardIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> ShardId.parse(text));
	}

}
