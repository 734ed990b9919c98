package io.github.shardkeeper.benchmarks.moves;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.group.Exactness;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;
import io.github.shardkeeper.benchmarks.moves.group.Handled;
import io.github.shardkeeper.benchmarks.moves.group.Window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A run in which something happened that must not happen fails.
 */
class GroupResultsTests {

	private static final Handled FIRST = handled("a", 1, 1, 10);

	private static final Handled SECOND = handled("a", 2, 1, 30);

	private static final Handled THIRD = handled("b", 3, 2, 60);

	@Test
	void moveWithoutLossIsValid() {
		assertThatCode(results(3, FIRST, SECOND, THIRD)::verify).doesNotThrowAnyException();
	}

	@Test
	void lostRecordFails() {
		assertFails(results(4, FIRST, SECOND, THIRD), "Ours: 1 records lost, 0 out of order, 0 by two owners, 0 again");
	}

	@Test
	void recordBeforeItsPredecessorFails() {
		assertFails(results(3, FIRST, handled("a", 3, 1, 30), handled("b", 2, 2, 60)),
				"0 records lost, 1 out of order, 0 by two owners, 0 again");
	}

	@Test
	void recordAfterALaterOwnerFails() {
		assertFails(results(3, FIRST, handled("b", 2, 2, 30), handled("a", 3, 1, 60)),
				"0 records lost, 0 out of order, 1 by two owners, 0 again");
	}

	@Test
	void recordHandledByTwoOwnersFails() {
		assertFails(results(2, FIRST, SECOND, handled("b", 2, 2, 60)),
				"0 records lost, 0 out of order, 0 by two owners, 1 again");
	}

	@Test
	void recordHandledTwiceByOneOwnerFails() {
		assertFails(results(2, FIRST, SECOND, handled("a", 2, 3, 60)),
				"0 records lost, 0 out of order, 0 by two owners, 1 again");
	}

	@Test
	void onlyACrashMayHaveRecordsHandledAgainAndOnlyInItsTime() {
		Handled again = handled("b", 2, 2, 60);
		GroupResults crash = results(2, FIRST, SECOND, again);
		crash.add(Event.KILL, window(40, 80));
		GroupResults later = results(2, FIRST, SECOND, again);
		later.add(Event.KILL, window(70, 80));
		GroupResults join = results(2, FIRST, SECOND, again);
		join.add(Event.JOIN, window(40, 80));

		assertThatCode(crash::verify).doesNotThrowAnyException();
		assertFails(later, "1 again without a crash");
		assertFails(join, "1 again without a crash");
	}

	@Test
	void processThatWasStoppedMayHandleItsRecordsAgainAndOnlyInThatTime() {
		Handled again = handled("a", 2, 1, 60);
		GroupResults stopped = results(2, FIRST, SECOND, again);
		stopped.addStop(window(40, 80));
		GroupResults later = results(2, FIRST, SECOND, again);
		later.addStop(window(70, 80));
		GroupResults byAnother = results(2, FIRST, SECOND, handled("b", 2, 2, 60));
		byAnother.addStop(window(40, 80));

		assertThatCode(stopped::verify).doesNotThrowAnyException();
		assertFails(later, "1 again without a crash or a stop");
		assertFails(byAnother, "1 again without a crash or a stop");
	}

	@Test
	void crashExcusesOnlyRepetitions() {
		GroupResults results = results(4, FIRST, SECOND, handled("b", 2, 2, 60), handled("b", 3, 2, 70));
		results.add(Event.KILL, window(40, 80));

		assertFails(results, "1 records lost");
	}

	@Test
	void oneGroupThatFailsAmongOthersFails() {
		GroupResults results = results(3, FIRST, SECOND, THIRD);
		results.finish(Exactness.of(List.of(List.of(FIRST)), 2), 0, 0);
		results.finish(Exactness.of(List.of(List.of(FIRST)), 1), 0, 0);

		assertFails(results, "1 records lost");
		assertThat(results.lost()).isEqualTo(1);
	}

	@Test
	void onlyShardkeeperFails() {
		GroupResults kafka = new GroupResults(protocol(0));
		kafka.finish(Exactness.of(List.of(List.of(FIRST)), 2), 0, 0);

		assertThatCode(kafka::verify).doesNotThrowAnyException();
		assertThat(kafka.lost()).isEqualTo(1);
	}

	@Test
	void eachShardOfEachRoundIsInTheRawFigures() {
		GroupResults results = results(3, FIRST, SECOND, THIRD);
		results.add(Event.JOIN, Window.of(List.of(List.of(FIRST, SECOND, THIRD)), 0, 80_000_000));

		assertThat(GroupResults.raw(List.of(results))).containsExactly(
				"contender,event,round,shard,moves,gap_ms,longest_ms,gaps_ms,standstills_ms,frozen",
				"\"Ours\",join,0,0,1,30.000,30.000,30.000,0.000,false");
	}

	private static void assertFails(GroupResults results, String message) {
		assertThatIllegalStateException().isThrownBy(results::verify).withMessageContaining(message);
	}

	private static GroupResults results(long sent, Handled... handled) {
		GroupResults results = new GroupResults(protocol(3000));
		results.finish(Exactness.of(List.of(List.of(handled)), sent), 0, 0);
		return results;
	}

	private static GroupProtocol protocol(long leaseMillis) {
		return new GroupProtocol("Ours", leaseMillis, 500, false, (shards) -> {
			throw new UnsupportedOperationException();
		});
	}

	private static Window window(long fromMillis, long toMillis) {
		return Window.of(List.of(), fromMillis * 1_000_000, toMillis * 1_000_000);
	}

	private static Handled handled(String instance, long number, long epoch, long millis) {
		return new Handled(instance, 0, number, epoch, 0, millis * 1_000_000);
	}

}
