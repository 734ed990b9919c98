package io.github.shardkeeper.benchmarks.moves;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A run in which something happened that must not happen fails.
 */
class FindingsTests {

	private static final Handled FIRST = handled("a", 1, 1, 10);

	private static final Handled SECOND = handled("a", 2, 1, 30);

	private static final Handled THIRD = handled("b", 3, 2, 60);

	@Test
	void aMoveThatLosesNothingIsFine() {
		assertThatCode(findings(3, FIRST, SECOND, THIRD)::verify).doesNotThrowAnyException();
	}

	@Test
	void aLostRecordFails() {
		assertFails(findings(4, FIRST, SECOND, THIRD),
				"Ours: 1 records lost, 0 out of order, 0 by two owners, 0 again");
	}

	@Test
	void aRecordBeforeItsPredecessorFails() {
		assertFails(findings(3, FIRST, handled("a", 3, 1, 30), handled("b", 2, 2, 60)),
				"0 records lost, 1 out of order, 0 by two owners, 0 again");
	}

	@Test
	void aRecordAfterALaterOwnersFails() {
		assertFails(findings(3, FIRST, handled("b", 2, 2, 30), handled("a", 3, 1, 60)),
				"0 records lost, 0 out of order, 1 by two owners, 0 again");
	}

	@Test
	void aRecordThatTwoHaveHandledFails() {
		assertFails(findings(2, FIRST, SECOND, handled("b", 2, 2, 60)),
				"0 records lost, 0 out of order, 0 by two owners, 1 again");
	}

	@Test
	void aRecordThatOneHasHandledTwiceFails() {
		assertFails(findings(2, FIRST, SECOND, handled("a", 2, 3, 60)),
				"0 records lost, 0 out of order, 0 by two owners, 1 again");
	}

	@Test
	void onlyACrashMayHaveRecordsHandledAgainAndOnlyInItsTime() {
		Handled again = handled("b", 2, 2, 60);
		Findings crash = findings(2, FIRST, SECOND, again);
		crash.add(Event.KILL, window(40, 80));
		Findings later = findings(2, FIRST, SECOND, again);
		later.add(Event.KILL, window(70, 80));
		Findings join = findings(2, FIRST, SECOND, again);
		join.add(Event.JOIN, window(40, 80));

		assertThatCode(crash::verify).doesNotThrowAnyException();
		assertFails(later, "1 again without a crash");
		assertFails(join, "1 again without a crash");
	}

	@Test
	void aCrashExcusesNothingElse() {
		Findings findings = findings(4, FIRST, SECOND, handled("b", 2, 2, 60), handled("b", 3, 2, 70));
		findings.add(Event.KILL, window(40, 80));

		assertFails(findings, "1 records lost");
	}

	@Test
	void oneGroupThatFailsAmongOthersFails() {
		Findings findings = findings(3, FIRST, SECOND, THIRD);
		findings.finish(Exactness.of(List.of(List.of(FIRST)), 2), 0);
		findings.finish(Exactness.of(List.of(List.of(FIRST)), 1), 0);

		assertFails(findings, "1 records lost");
		assertThat(findings.lost()).isEqualTo(1);
	}

	private static void assertFails(Findings findings, String message) {
		assertThatIllegalStateException().isThrownBy(findings::verify).withMessageContaining(message);
	}

	private static Findings findings(long sent, Handled... handled) {
		Findings findings = new Findings(new Contender("Ours", 3000, 500, false, (shards) -> {
			throw new UnsupportedOperationException();
		}));
		findings.finish(Exactness.of(List.of(List.of(handled)), sent), 0);
		return findings;
	}

	private static Window window(long fromMillis, long toMillis) {
		return Window.of(List.of(), fromMillis * 1_000_000, toMillis * 1_000_000);
	}

	private static Handled handled(String instance, long number, long epoch, long millis) {
		return new Handled(instance, 0, number, epoch, 0, millis * 1_000_000);
	}

}
