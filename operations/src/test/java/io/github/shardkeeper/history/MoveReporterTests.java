package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.history.MoveReporter.Filter;
import io.github.shardkeeper.history.MoveReporter.Moves;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

class MoveReporterTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final ShardMove MOVE = new ShardMove(ShardId.of("visits", 3), A, B, new Token(20), new Token(10),
			MoveCause.MANUAL, 1_000, 1_070, 1_100, "somebody has asked for it", "zoë");

	private Instant now = Instant.EPOCH;

	private final MoveHistory history = new MemoryMoveHistory(new Bounds(100_000, Duration.ofDays(1)), () -> this.now);

	private final MoveReporter reporter = new MoveReporter(this.history);

	@Test
	void reportHasDurationsOfThePhases() {
		this.history.append(List.of(MOVE));
		phases(10, MovePhase.DRAINED, 1_050);
		phases(20, MovePhase.ACQUIRED, 1_110);
		phases(20, MovePhase.FIRST_RECORD, 1_300);

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).singleElement()
			.usingRecursiveComparison()
			.ignoringFields("id")
			.isEqualTo(new MoveReport("", "visits", "3", "a~1", "b~1", 20, "MANUAL", "somebody has asked for it", "zoë",
					Instant.ofEpochMilli(1_000), Duration.ofMillis(70), Duration.ofMillis(20), Duration.ofMillis(30),
					Duration.ofMillis(10), Duration.ofMillis(190)));
	}

	@Test
	void phasesThatNobodyHasToldAreNotInvented() {
		this.history.append(List.of(MOVE));
		phases(11, MovePhase.DRAINED, 1_050);
		phases(21, MovePhase.ACQUIRED, 1_110);
		phases(20, MovePhase.FIRST_RECORD, 1_300);

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).singleElement()
			.extracting(MoveReport::flushed, MoveReport::acquired, MoveReport::firstRecord)
			.containsOnlyNulls();
	}

	/** A shard is acquired again, under its token, after a seek. */
	@Test
	void firstTimeOfAPhaseCounts() {
		this.history.append(List.of(MOVE));
		phases(20, MovePhase.ACQUIRED, 1_110);
		phases(20, MovePhase.ACQUIRED, 9_000);

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).extracting(MoveReport::acquired)
			.containsExactly(Duration.ofMillis(10));
	}

	/** The old owner may have told first, and the new one does later. */
	@Test
	void phasesAreFoundOnBothSidesOfThePage() {
		phases(10, MovePhase.DRAINED, 1_050);
		this.history.append(List.of(MOVE, move("visits", 4, A, B, MoveCause.JOIN)));
		phases(20, MovePhase.ACQUIRED, 1_110);

		Moves newest = this.reporter.moves(Filter.NONE, null, 1);
		Moves older = this.reporter.moves(Filter.NONE, newest.next(), 1);

		assertThat(older.moves()).singleElement()
			.extracting(MoveReport::flushed, MoveReport::acquired)
			.containsExactly(Duration.ofMillis(20), Duration.ofMillis(10));
	}

	@Test
	void followerGetsWhatIsNewAndMovesWhosePhasesAre() {
		assertThat(this.reporter.moves(Filter.NONE, null, 10).newest()).isEqualTo("0");
		this.history.append(List.of(MOVE, move("visits", 4, A, B, MoveCause.JOIN)));
		Moves first = this.reporter.moves(Filter.NONE, null, 1);
		String position = Objects.requireNonNull(first.newest());
		assertThat(this.reporter.movesAfter(Filter.NONE, position, 10)).isEqualTo(new Moves(List.of(), null, position));
		phases(20, MovePhase.ACQUIRED, 1_110);
		this.history.append(List.of(move("orders", 5, A, B, MoveCause.JOIN)));

		Moves news = this.reporter.movesAfter(Filter.NONE, position, 10);
		Moves filtered = this.reporter.movesAfter(new Filter("visits", null, null, null), position, 10);

		assertThat(news.moves()).extracting(MoveReport::topic, MoveReport::shard)
			.containsExactly(tuple("visits", "3"), tuple("orders", "5"));
		MoveReport again = news.moves().get(0);
		assertThat(again.id()).isEqualTo(this.reporter.moves(Filter.NONE, null, 10).moves().get(2).id());
		assertThat(again.acquired()).isEqualTo(Duration.ofMillis(10));
		assertThat(news.next()).isNull();
		assertThat(filtered.moves()).containsExactly(again);
		assertThat(this.reporter.movesAfter(Filter.NONE, Objects.requireNonNull(news.newest()), 10).moves()).isEmpty();
	}

	@Test
	void followerThatFellBehindGetsEverythingInParts() {
		List<ShardMove> moves = new ArrayList<>();
		for (int i = 0; i < 25; i++) {
			moves.add(move("visits", i, A, B, MoveCause.JOIN));
		}
		this.history.append(moves);

		List<String> seen = new ArrayList<>();
		Moves part = new Moves(List.of(), "0", "0");
		for (String after = part.next(); after != null; after = part.next()) {
			part = this.reporter.movesAfter(Filter.NONE, after, 10);
			part.moves().forEach((move) -> seen.add(move.shard()));
		}

		assertThat(seen).isEqualTo(moves.stream().map((move) -> move.shard().id()).toList());
	}

	@Test
	void lastMovesOfAShardAreFew() {
		for (int i = 0; i < 30; i++) {
			this.history.append(
					List.of(new ShardMove(ShardId.of("visits", 1), A, B, new Token(i + 1L), MoveCause.JOIN, 0, 0, 0),
							move("orders", 1, A, B, MoveCause.JOIN)));
		}

		assertThat(this.reporter.lastMoves(ShardId.of("visits", 1))).hasSize(10)
			.first()
			.extracting(MoveReport::token)
			.isEqualTo(30L);
	}

	/** The former leader has seen the move, and its successor only the result. */
	@Test
	void whatIsKnownOfAMoveThatIsStoredTwiceIsReported() {
		this.history.append(List.of(MOVE));
		this.history.append(List.of(new ShardMove(MOVE.shard(), null, B, MOVE.token(), MoveCause.UNKNOWN, 0, 0, 0)));

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).singleElement()
			.extracting(MoveReport::cause, MoveReport::from)
			.containsExactly("MANUAL", "a~1");
	}

	private void phases(long token, MovePhase phase, long atMillis) {
		this.now = Instant.ofEpochMilli(atMillis + 5);
		this.history
			.appendPhases(List.of(new PhaseAges(MOVE.shard(), new Token(token), Map.of(phase, Duration.ofMillis(5)))));
	}

	/** A clock of the store that was set back does not make it negative. */
	@Test
	void durationsAreNeverNegative() {
		this.history.append(
				List.of(new ShardMove(ShardId.of("visits", 3), A, B, new Token(20), MoveCause.JOIN, 1_000, 900, 800)));

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).singleElement()
			.extracting(MoveReport::drained, MoveReport::unowned)
			.containsExactly(Duration.ZERO, Duration.ZERO);
	}

	@Test
	void filtersAreCombined() {
		this.history.append(List.of(move("visits", 1, A, B, MoveCause.JOIN), move("orders", 2, A, B, MoveCause.JOIN),
				move("visits", 3, B, A, MoveCause.CRASH), move("visits", 4, null, A, MoveCause.FIRST_OWNER)));

		assertThat(shards(new Filter("visits", null, null, null))).containsExactly("4", "3", "1");
		assertThat(shards(new Filter("visits", "3", null, null))).containsExactly("3");
		assertThat(shards(new Filter(null, null, "b", null))).containsExactly("3", "2", "1");
		assertThat(shards(new Filter(null, null, "b~1", MoveCause.JOIN))).containsExactly("2", "1");
		assertThat(shards(new Filter(null, null, "b~2", null))).isEmpty();
	}

	@Test
	void moveThatIsStoredTwiceIsReportedOnce() {
		List<ShardMove> moves = List.of(move("visits", 1, A, B, MoveCause.JOIN));
		this.history.append(moves);
		this.history.append(moves);

		assertThat(shards(Filter.NONE)).containsExactly("1");
	}

	@Test
	void pagesFollowEachOtherWithAFilter() {
		List<ShardMove> moves = new ArrayList<>();
		for (int i = 0; i < 1_200; i++) {
			moves.add(move((i % 100 == 0) ? "rare" : "visits", i, A, B, MoveCause.JOIN));
		}
		this.history.append(moves);
		Filter rare = new Filter("rare", null, null, null);

		Moves first = this.reporter.moves(rare, null, 5);
		Moves second = this.reporter.moves(rare, first.next(), 5);
		Moves last = this.reporter.moves(rare, second.next(), 5);

		assertThat(first.moves()).extracting(MoveReport::shard).containsExactly("1100", "1000", "900", "800", "700");
		assertThat(second.moves()).extracting(MoveReport::shard).containsExactly("600", "500", "400", "300", "200");
		assertThat(last.moves()).extracting(MoveReport::shard).containsExactly("100", "0");
		assertThat(last.next()).isNull();
	}

	@Test
	void reportLooksAtABoundedNumberOfMoves() {
		List<ShardMove> moves = new ArrayList<>();
		for (int i = 0; i < 30_000; i++) {
			moves.add(move("visits", i, A, B, MoveCause.JOIN));
		}
		this.history.append(moves);

		Moves none = this.reporter.moves(new Filter("other", null, null, null), null, 5);

		assertThat(none.moves()).isEmpty();
		assertThat(none.next()).isNotNull();
	}

	private List<String> shards(Filter filter) {
		return this.reporter.moves(filter, null, 100).moves().stream().map(MoveReport::shard).toList();
	}

	private static ShardMove move(String topic, int shard, @Nullable MemberId from, MemberId to, MoveCause cause) {
		return new ShardMove(ShardId.of(topic, shard), from, to, new Token(shard + 1L), cause, 0, 0, 0);
	}

}
