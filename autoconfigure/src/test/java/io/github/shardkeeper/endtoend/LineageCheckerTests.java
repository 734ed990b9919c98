package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.endtoend.LineageChecker.Death;
import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.TraceChecker.State;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Traces of a Redis or a Kafka that loses writes, and of an instance that dies at 100 µs.
 */
class LineageCheckerTests {

	private final List<Line> lines = new ArrayList<>();

	private final List<Death> deaths = List.of(new Death("dead", 100));

	private List<Long> left = List.of(1L, 2L, 3L, 4L);

	private State end = new State(10, 4);

	@Test
	void acceptsRepetitionOfDeadInstance() {
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(50, "dead", 5, 3, 6, 3);
		handled(110, "a", 6, 2, 3, 2);
		handled(120, "a", 6, 3, 6, 3);
		handled(130, "a", 6, 4, 10, 4);
		assertThat(check()).isEmpty();
	}

	@Test
	void acceptsShardHandledAgainFromStart() {
		handled(50, "dead", 5, 1, 1, 1);
		handled(110, "a", 6, 1, 1, 1);
		handled(120, "a", 6, 2, 3, 2);
		handled(130, "a", 6, 3, 6, 3);
		handled(140, "a", 6, 4, 10, 4);
		assertThat(check()).isEmpty();
	}

	@Test
	void acceptsGapOfLostRecords() {
		this.left = List.of(1L, 2L, 7L);
		this.end = new State(10, 3);
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(110, "a", 1, 7, 10, 3);
		assertThat(check()).isEmpty();
	}

	@Test
	void findsRepetitionBySurvivor() {
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(110, "b", 6, 2, 3, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("none that was there"));
	}

	@Test
	void findsRepetitionBeforeDeath() {
		handled(10, "dead", 1, 1, 1, 1);
		handled(20, "dead", 1, 2, 3, 2);
		handled(30, "b", 6, 2, 3, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("none that was there"));
	}

	@Test
	void findsOffsetAheadOfState() {
		handled(10, "a", 1, 1, 1, 1);
		handled(50, "dead", 5, 2, 3, 2);
		handled(110, "a", 6, 3, 4, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("skips 2"));
	}

	@Test
	void findsStateAheadOfOffset() {
		handled(10, "dead", 1, 1, 1, 1);
		handled(50, "dead", 1, 2, 3, 2);
		handled(110, "a", 6, 2, 5, 3);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("has seen 2 already"));
	}

	/** In Kafka: two were lost, and two others are at their offsets. */
	@Test
	void findsRecordsSkippedAtOffsetsThatWereReused() {
		this.left = List.of(1L, 2L, 5L, 6L, 7L);
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(30, "a", 1, 3, 6, 3);
		handled(40, "a", 1, 4, 10, 4);
		handled(110, "b", 6, 7, 17, 5);
		this.end = new State(17, 5);
		assertThat(check()).satisfiesExactly((wrong) -> assertThat(wrong).endsWith("skips 5"),
				(wrong) -> assertThat(wrong).endsWith("skips 6"));
	}

	/** In Kafka: reading has begun at the first record instead of the divergence. */
	@Test
	void findsRecordsCountedAgainAfterLoss() {
		this.left = List.of(1L, 2L, 5L);
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(30, "dead", 5, 3, 6, 3);
		handled(110, "a", 6, 1, 7, 4);
		handled(120, "a", 6, 2, 9, 5);
		handled(130, "a", 6, 5, 14, 6);
		this.end = new State(14, 6);
		assertThat(check()).singleElement().asString().contains("has seen 3 already");
	}

	/** In Kafka: its first records are at offsets that the other topic had. */
	@Test
	void findsBeginningOfReplacedTopicSkipped() {
		this.left = List.of(3L, 4L, 5L);
		handled(10, "a", 1, 1, 1, 1);
		handled(20, "a", 1, 2, 3, 2);
		handled(110, "b", 6, 5, 8, 3);
		this.end = new State(8, 3);
		assertThat(check()).hasSize(2).allMatch((wrong) -> wrong.contains("skips"));
	}

	@Test
	void findsRepeatedToken() {
		handled(50, "dead", 5, 1, 1, 1);
		handled(110, "a", 5, 2, 3, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("the same token"));
	}

	@Test
	void findsDecreasingToken() {
		handled(50, "dead", 5, 1, 1, 1);
		handled(110, "a", 4, 2, 3, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("below"));
	}

	@Test
	void findsTwoOwners() {
		handled(10, "a", 1, 1, 1, 1);
		handled(11, "b", 2, 2, 3, 2);
		assertThat(check()).anyMatch((wrong) -> wrong.contains("ended"));
	}

	@Test
	void findsMissingEnd() {
		handled(10, "a", 1, 1, 1, 1);
		assertThat(check()).contains("2 was never handled", "3 was never handled", "4 was never handled")
			.anyMatch((wrong) -> wrong.contains("the state is"));
	}

	private void handled(long at, String instance, long token, long number, long sum, long count) {
		this.lines.add(new Line(at, at + 5, instance, "0", token, number, sum, count));
	}

	private List<String> check() {
		return LineageChecker.check(this.lines, this.left, this.end, this.deaths);
	}

}
