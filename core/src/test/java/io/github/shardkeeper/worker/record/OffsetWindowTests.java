package io.github.shardkeeper.worker.record;

import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;

class OffsetWindowTests {

	@Test
	void recordsDoneAheadAreInTheOrderOfTheShardForEveryOwner() {
		OffsetWindow first = new OffsetWindow(100, null, Set.of());
		TrackedRecord[] records = new TrackedRecord[7];
		for (int number = 1; number <= 6; number++) {
			records[number] = first.take(record(number));
		}
		first.done(records[5]);
		first.done(records[6]);
		assertThat(first.ahead()).containsExactlyElementsOf(offsets(5, 6));

		// It meets fewer records than the first one did, and is done with some of them.
		OffsetWindow second = new OffsetWindow(100, first.position(), first.ahead());
		second.take(record(1));
		second.done(second.take(record(2)));
		assertThat(second.ahead()).containsExactlyElementsOf(offsets(2, 5, 6));

		OffsetWindow third = new OffsetWindow(100, second.position(), second.ahead());
		TrackedRecord one = third.take(record(1));
		assertThat(third.take(record(2))).isNull();
		third.done(one);
		third.done(third.take(record(3)));
		third.done(third.take(record(4)));
		assertThat(third.take(record(5))).isNull();
		assertThat(third.take(record(6))).isNull();
		assertThat(third.position()).isEqualTo(new Offset("6"));
		assertThat(third.ahead()).isEmpty();
	}

	@Test
	void recordsAheadThatAreTrimmedAreForgotten() {
		OffsetWindow window = new OffsetWindow(100, null, new LinkedHashSet<>(offsets(2, 4)));
		window.take(record(3));
		assertThat(window.take(record(4))).isNull();

		assertThat(window.ahead()).containsExactlyElementsOf(offsets(4));
	}

	/** A source may write more into its offsets, such as where a read resumes. */
	@Test
	void recordsDoneAheadAreKnownByTheirIdentity() {
		OffsetWindow first = new OffsetWindow(100, null, Set.of());
		first.done(first.take(record(1, "first")));
		first.take(record(2, "first"));
		first.done(first.take(record(3, "first")));
		assertThat(first.position()).isEqualTo(new Offset("1, read by first"));
		assertThat(first.ahead()).containsExactlyElementsOf(offsets(3));

		OffsetWindow second = new OffsetWindow(100, first.position(), first.ahead());
		TrackedRecord two = second.take(record(2, "second"));
		assertThat(second.take(record(3, "second"))).isNull();
		second.done(two);
		assertThat(second.position()).isEqualTo(new Offset("3, read by second"));
		assertThat(second.ahead()).isEmpty();
	}

	/** A source may add what its offsets are one of. */
	@Test
	void checkpointKeepsThePositionOfTheLastRecord() {
		OffsetWindow window = new OffsetWindow(100, null, Set.of());
		TrackedRecord one = window.take(positioned(1));
		TrackedRecord two = window.take(positioned(2));
		assertThat(window.snapshot().positionAfter(List.of(one)).offset()).isEqualTo(new Offset("1 of a log"));
		window.done(two);
		assertThat(window.ahead()).containsExactlyElementsOf(offsets(2));
		window.done(one);

		assertThat(window.position()).isEqualTo(new Offset("2 of a log"));
		assertThat(two.offset()).as("what handlers see").isEqualTo(new Offset("2"));
	}

	private static SourceRecord positioned(int number) {
		Offset offset = new Offset(Integer.toString(number));
		return new SourceRecord(offset, null, new byte[0], Map.of(), 0, offset, new Offset(number + " of a log"));
	}

	/** A call commits its records itself, while earlier ones are handled by others. */
	@Test
	void recordsOfACallMoveThePositionOnlyWithAllBeforeThem() {
		OffsetWindow window = new OffsetWindow(100, new Offset("0"), Set.of());
		TrackedRecord[] records = new TrackedRecord[7];
		for (int number = 1; number <= 6; number++) {
			records[number] = window.take(record(number));
		}
		window.done(records[3]);
		records[5].written();

		assertPosition(window, List.of(records[1], records[2]), 3, 5);
		assertPosition(window, List.of(records[1], records[2], records[4]), 5);
		assertPosition(window, List.of(records[2], records[4]), 0, 2, 3, 4, 5);
		assertPosition(window, List.of(new TrackedRecord(record(1))), 0, 3, 5);
	}

	private static void assertPosition(OffsetWindow window, List<TrackedRecord> ofCall, int offset, int... ahead) {
		OffsetWindow.Position after = window.snapshot().positionAfter(ofCall);
		assertThat(after.offset()).isEqualTo(new Offset(Integer.toString(offset)));
		assertThat(after.ahead()).containsExactlyElementsOf(offsets(ahead));
	}

	private static SourceRecord record(int number, String reader) {
		return new SourceRecord(new Offset(number + ", read by " + reader), null, new byte[0], Map.of(), 0,
				new Offset(Integer.toString(number)));
	}

	private static SourceRecord record(int number) {
		return new SourceRecord(new Offset(Integer.toString(number)), null, new byte[0], Instant.EPOCH);
	}

	private static List<Offset> offsets(int... numbers) {
		return IntStream.of(numbers).mapToObj((number) -> new Offset(Integer.toString(number))).toList();
	}

}
