package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.Trace.StoreCall;
import io.github.shardkeeper.endtoend.TraceChecker.Freeze;
import io.github.shardkeeper.endtoend.TraceChecker.Rule;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.endtoend.TraceChecker.Violation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Traces made by hand, of one shard with the records 1 to 4: violations are found, and
 * nothing else.
 */
class TraceCheckerTests {

	private static final long MILLI = 1000;

	private final List<Line> lines = new ArrayList<>();

	private final List<Line> interrupted = new ArrayList<>();

	private final List<StoreCall> storeCalls = new ArrayList<>();

	private final List<Freeze> freezes = new ArrayList<>();

	private State state = new State(10, 4);

	private TraceChecker checker;

	@Test
	void acceptsRepetitionAfterMove() {
		handled("a", 1, 0, 10, 1, 2, 3);
		handled("b", 2, 100, 10, 3, 4);
		stored("a", 1, Trace.ACQUIRE, 0);
		stored("a", 1, Trace.COMMIT, 20);
		stored("b", 2, Trace.ACQUIRE, 90);
		stored("b", 2, Trace.COMMIT, 150);
		assertThat(check()).isEmpty();
	}

	@Test
	void findsLostRecord() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 2, 100, 10, 4);
		assertThat(check()).contains(new Violation(Rule.LOST, "shard 0: 3 was never handled"))
			.extracting(Violation::rule)
			.containsExactly(Rule.LOST, Rule.ORDER);
	}

	@Test
	void findsLostLastRecord() {
		handled("a", 1, 0, 10, 1, 2, 3);
		assertThat(rules()).containsExactly(Rule.LOST);
	}

	@Test
	void findsUnhandledShard() {
		assertThat(rules()).containsExactly(Rule.LOST, Rule.LOST, Rule.LOST, Rule.LOST);
	}

	@Test
	void findsUnknownRecord() {
		handled("a", 1, 0, 10, 1, 2, 3, 4, 5);
		assertThat(rules()).containsExactly(Rule.LOST);
	}

	@Test
	void acceptsRepetitionOfTheLastCallAfterItsLease() {
		handled("a", 1, 0, 10, 1, 2, 3);
		handled("a", 1, 2_000, 10, 3, 4);
		assertThat(check()).isEmpty();
	}

	@Test
	void findsRepetitionsUnderOneToken() {
		handled("a", 1, 0, 10, 1, 2, 3, 3, 4);
		assertThat(rules()).containsExactly(Rule.ORDER);
		this.lines.clear();
		handled("a", 1, 0, 10, 1, 2, 3);
		handled("a", 1, 2_000, 10, 2, 3, 4);
		assertThat(rules()).containsExactly(Rule.ORDER);
	}

	@Test
	void findsWrongOrder() {
		handled("a", 1, 0, 10, 1, 3, 2, 4);
		assertThat(rules()).contains(Rule.ORDER).containsOnly(Rule.ORDER);
	}

	@Test
	void findsRepetitionBySameOwner() {
		handled("a", 1, 0, 10, 1, 2, 2, 3, 4);
		assertThat(rules()).containsExactly(Rule.ORDER);
	}

	@Test
	void findsTokenOfTwoOwners() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 1, 100, 10, 3, 4);
		assertThat(rules()).containsExactly(Rule.TOKEN);
	}

	@Test
	void findsRecordCountedTwice() {
		handled("a", 1, 0, 10, 1, 2, 3);
		this.lines.add(new Line(100 * MILLI, 110 * MILLI, "b", "0", 2, 3, 9, 4));
		this.lines.add(new Line(120 * MILLI, 130 * MILLI, "b", "0", 2, 4, 13, 5));
		this.state = new State(13, 5);
		assertThat(rules()).containsExactly(Rule.STATE, Rule.STATE, Rule.STATE);
	}

	@Test
	void findsWrongFinalSum() {
		handled("a", 1, 0, 10, 1, 2, 3, 4);
		this.state = new State(6, 4);
		assertThat(rules()).containsExactly(Rule.STATE);
		this.state = null;
		assertThat(rules()).containsExactly(Rule.STATE);
	}

	@Test
	void findsOverlapWithoutFreeze() {
		handled("a", 1, 0, 10, 1, 2, 3);
		handled("b", 2, 25, 10, 3, 4);
		assertThat(rules()).containsExactly(Rule.OVERLAP);
	}

	@Test
	void findsReturnOfOldOwner() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 2, 20, 10, 3, 4);
		handled("a", 1, 100, 10, 3);
		assertThat(rules()).containsExactly(Rule.OVERLAP);
	}

	@Test
	void findsInterruptedCallThatOverlaps() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 2, 25, 10, 3, 4);
		this.interrupted.add(new Line(20 * MILLI, 30 * MILLI, "a", "0", 1, 3, 6, 3));
		assertThat(rules()).containsExactly(Rule.OVERLAP);
	}

	@Test
	void acceptsOverlapOfFrozenCall() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 2, 5000, 10, 3, 4);
		this.lines.add(new Line(20 * MILLI, 9000 * MILLI, "a", "0", 1, 3, 6, 3));
		this.freezes.add(new Freeze("a", 25 * MILLI, 8990 * MILLI));
		assertThat(check()).isEmpty();
		assertThat(this.checker.overlapsWhileFrozen()).hasSize(1);
	}

	@Test
	void freezeExcusesOnlyItsOwnCall() {
		handled("a", 1, 0, 10, 1, 2);
		handled("b", 2, 5000, 10, 3, 4);
		this.lines.add(new Line(20 * MILLI, 9000 * MILLI, "a", "0", 1, 3, 6, 3));
		this.freezes.add(new Freeze("b", 25 * MILLI, 8990 * MILLI));
		assertThat(rules()).as("the other process was frozen").containsExactly(Rule.OVERLAP);

		this.freezes.clear();
		this.freezes.add(new Freeze("a", 5001 * MILLI, 8990 * MILLI));
		assertThat(rules()).as("frozen only after the new owner began").containsExactly(Rule.OVERLAP);

		this.freezes.clear();
		this.freezes.add(new Freeze("a", 25 * MILLI, 6000 * MILLI));
		assertThat(rules()).as("it continued for long after it was woken").containsExactly(Rule.OVERLAP);

		this.freezes.clear();
		this.freezes.add(new Freeze("a", 25 * MILLI, 8990 * MILLI));
		this.lines.add(new Line(9001 * MILLI, 9010 * MILLI, "a", "0", 1, 4, 10, 4));
		assertThat(rules()).as("it took another record when it was woken").containsExactly(Rule.OVERLAP);
	}

	@Test
	void findsCommitAcceptedAfterNewerAcquisition() {
		handled("a", 1, 0, 10, 1, 2, 3, 4);
		stored("a", 1, Trace.ACQUIRE, 0);
		stored("b", 2, Trace.ACQUIRE, 100);
		this.storeCalls.add(new StoreCall(Trace.COMMIT, 110 * MILLI, 111 * MILLI, "a", "0", 1, false));
		assertThat(check()).isEmpty();

		stored("a", 1, Trace.COMMIT, 110);
		assertThat(rules()).containsExactly(Rule.ZOMBIE_WRITE);
	}

	/** One call after the other, with a state that is right. */
	private void handled(String instance, long token, long beginMillis, long eachMillis, long... numbers) {
		for (int i = 0; i < numbers.length; i++) {
			long begin = (beginMillis + i * eachMillis) * MILLI;
			this.lines.add(new Line(begin, begin + eachMillis * MILLI, instance, "0", token, numbers[i],
					numbers[i] * (numbers[i] + 1) / 2, numbers[i]));
		}
	}

	private void stored(String instance, long token, String what, long beginMillis) {
		this.storeCalls
			.add(new StoreCall(what, beginMillis * MILLI, beginMillis * MILLI + 1, instance, "0", token, true));
	}

	private List<Rule> rules() {
		return check().stream().map(Violation::rule).toList();
	}

	private List<Violation> check() {
		this.checker = new TraceChecker(Map.of("0", 4L),
				new Trace(this.lines, this.interrupted, this.storeCalls, List.of()), this.freezes);
		return this.checker.check((this.state != null) ? Map.of("0", this.state) : Map.of());
	}

}
