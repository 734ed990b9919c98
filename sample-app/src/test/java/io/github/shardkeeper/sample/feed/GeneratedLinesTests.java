package io.github.shardkeeper.sample.feed;

import java.util.Collections;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.sample.AccessLine;
import io.github.shardkeeper.sample.Visit;

import static org.assertj.core.api.Assertions.assertThat;

class GeneratedLinesTests {

	private final GeneratedLines lines = new GeneratedLines(10_000);

	@Test
	void sameNumberGivesSameLine() {
		assertThat(this.lines.read(100, 50)).isEqualTo(this.lines.read(50, 100).subList(50, 100));
	}

	@Test
	void linesAreReadable() {
		assertThat(this.lines.read(0, 1000)).allSatisfy((line) -> {
			assertThat(Visit.parse(line.text())).isNotEqualTo(Visit.UNREADABLE);
			assertThat(line.client()).matches("[0-9a-f.:]+");
		});
	}

	@Test
	void timesAreInOrder() {
		assertThat(this.lines.read(0, 50).stream().map((line) -> Visit.parse(line.text()).time())).isSorted();
	}

	@Test
	void fewClientsHaveManyVisits() {
		Map<String, Long> counts = this.lines.read(0, 10_000)
			.stream()
			.collect(Collectors.groupingBy(AccessLine::client, Collectors.counting()));
		assertThat(counts).hasSize(40);
		assertThat(Collections.max(counts.values())).isGreaterThan(10 * Collections.min(counts.values()));
	}

	@Test
	void endsAtTheLimit() {
		assertThat(this.lines.read(9_990, 100)).hasSize(10).last().extracting(AccessLine::number).isEqualTo(9_999L);
		assertThat(this.lines.read(10_000, 100)).isEmpty();
		assertThat(this.lines.read(20_000, 100)).isEmpty();
	}

}
