package io.github.shardkeeper.operations;

import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedList;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;

/** The distance of a seek, by the counts that a source returns one after the other. */
class RecordDistanceTests {

	private static final Offset PRESENT = new Offset("5");

	private static final Offset TARGET = new Offset("7");

	@Test
	void recordsBetweenAreSkippedOrHandledAgain() {
		assertThat(text(9L, 8L, 9L)).isEqualTo("1 record would be skipped");
		assertThat(text(9L, 12L, 9L)).isEqualTo("3 records would be handled again");
		assertThat(text(9L, 9L, 9L)).isEqualTo("no record lies between");
	}

	@Test
	void recordThatIsAddedBetweenTwoCountsIsNotCounted() {
		assertThat(text(9L, 9L, 10L, 9L, 10L)).isEqualTo("1 record would be skipped");
	}

	@Test
	void distanceIsAboutRightIfRecordsAreAddedAllTheTime() {
		assertThat(text(1L, 9L, 10L, 19L, 20L, 29L, 30L, 39L, 40L, 48L, 50L))
			.isEqualTo("about 2 records would be skipped, of a shard to which records are being added");
	}

	@Test
	void distanceIsUnknownIfTheSourceDoesNotCount() {
		assertThat(text(9L, null, 9L)).isEqualTo("the number of records between is not known");
	}

	/** The counts are those after the present offset, the target, the present offset … */
	private static String text(@Nullable Long... counts) {
		Deque<@Nullable Long> left = new LinkedList<>(Arrays.asList(counts));
		String text = RecordDistance.text((offset) -> left.poll(), PRESENT, TARGET);
		assertThat(left).isEmpty();
		return text;
	}

}
