package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.Entry;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.history.MoveHistory.PhaseTimes;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/** What every store of the history of moves does. */
public abstract class MoveHistoryContract {

	private static final Page EMPTY = new Page(List.of(), List.of(), null, null, false);

	private static final Bounds LARGE = new Bounds(1_000, Duration.ofDays(1));

	/** Returns an empty history. */
	protected abstract MoveHistory create(Bounds bounds);

	/** Lets the time of the store pass. */
	protected abstract void pass(Duration time) throws Exception;

	@Test
	void emptyHistoryHasNoMoves() {
		assertThat(create(LARGE).read(null, 10)).isEqualTo(EMPTY);
	}

	@Test
	void movesAreReadAsTheyWereWritten() {
		MoveHistory history = create(LARGE);
		ShardMove first = new ShardMove(new ShardId("orders", "7"), null, MemberId.of("a.example-1", "x"),
				new Token(1795234342450619L), MoveCause.FIRST_OWNER, 1795234342450L, 1795234342450L, 1795234342450L);
		ShardMove last = new ShardMove(new ShardId("orders", "7"), MemberId.of("a.example-1", "x"), null,
				new Token(1795234342450619L), MoveCause.COMPLETED, 1, 2, 3);
		ShardMove asked = new ShardMove(new ShardId("orders", "7"), MemberId.of("a", "1"), MemberId.of("b", "1"),
				new Token(1795234342450620L), new Token(1795234342450619L), MoveCause.MANUAL, 1, 2, 3,
				"its owner had more than its share, this member less", "zoë <ops@example.org>");
		history.append(List.of(first, move(2), asked, last));

		assertThat(moves(history.read(null, 10))).containsExactly(last, asked, move(2), first);
	}

	@Test
	void phasesAreStoredWithTheTimeOfTheStore() throws Exception {
		MoveHistory history = create(LARGE);
		ShardId other = new ShardId("orders.a-1_x", "eu-1");
		history.append(moves(0, 1));
		history.appendPhases(List.of(
				new PhaseAges(ShardId.of("visits", 0), new Token(1),
						Map.of(MovePhase.ACQUIRED, Duration.ofMillis(1_500), MovePhase.FIRST_RECORD, Duration.ZERO)),
				new PhaseAges(other, new Token(1795234342450619L), Map.of(MovePhase.DRAINED, Duration.ofMillis(200)))));
		pass(Duration.ofMillis(100));
		history.appendPhases(
				List.of(new PhaseAges(other, new Token(7), Map.of(MovePhase.ACQUIRED, Duration.ofMillis(10)))));

		for (Page page : List.of(history.read(null, 10), history.readAfter(null, 10))) {
			assertThat(moves(page)).containsExactly(move(0));
			assertThat(page.phases()).extracting(PhaseTimes::shard)
				.containsExactly(ShardId.of("visits", 0), other, other);
			Map<MovePhase, Long> first = page.phases().get(0).millis();
			assertThat(first).containsOnlyKeys(MovePhase.ACQUIRED, MovePhase.FIRST_RECORD);
			long handled = first.getOrDefault(MovePhase.FIRST_RECORD, 0L);
			assertThat(first.getOrDefault(MovePhase.ACQUIRED, 0L)).isEqualTo(handled - 1_500);
			assertThat(page.phases().get(1)).isEqualTo(
					new PhaseTimes(other, new Token(1795234342450619L), Map.of(MovePhase.DRAINED, handled - 200)));
			assertThat(page.phases().get(2).millis().getOrDefault(MovePhase.ACQUIRED, 0L) - handled).isBetween(90L,
					65_000L);
		}
	}

	@Test
	void newEntriesAreReadFromAPosition() {
		MoveHistory history = create(LARGE);
		assertThat(history.readAfter("0", 10)).isEqualTo(EMPTY);
		history.append(moves(0, 5));

		Page first = history.readAfter(null, 2);
		Page second = history.readAfter(first.next(), 2);
		Page last = history.readAfter(second.next(), 2);
		history.append(moves(5, 6));
		Page added = history.readAfter(last.last(), 2);

		assertThat(moves(first)).containsExactly(move(0), move(1));
		assertThat(moves(second)).containsExactly(move(2), move(3));
		assertThat(moves(last)).containsExactly(move(4));
		assertThat(last.more()).isFalse();
		assertThat(last.first()).isEqualTo(last.last());
		assertThat(moves(added)).containsExactly(move(5));
		assertThat(history.readAfter(added.last(), 2)).isEqualTo(EMPTY);
	}

	@Test
	void entriesAreNotReadAfterTheirRetentionAlthoughNothingIsAdded() throws Exception {
		Duration retention = Duration.ofMillis(100);
		MoveHistory history = create(new Bounds(10_000, retention));
		history.append(moves(0, 2));
		pass(retention.plusMillis(1));

		assertThat(history.read(null, 10)).isEqualTo(EMPTY);
		assertThat(history.readAfter(null, 10)).isEqualTo(EMPTY);
		assertThat(history.readAfter("0", 10)).isEqualTo(EMPTY);
		history.append(moves(2, 4));
		assertThat(moves(history.read(null, 10))).doesNotContain(move(0), move(1));
		assertThat(moves(history.readAfter("0", 10))).doesNotContain(move(0), move(1));
	}

	@Test
	void newestMovesComeFirstAcrossPages() {
		MoveHistory history = create(LARGE);
		for (int i = 0; i < 25; i += 5) {
			history.append(moves(i, i + 5));
		}

		List<ShardMove> read = new ArrayList<>();
		String before = null;
		int pages = 0;
		do {
			Page page = history.read(before, 10);
			read.addAll(moves(page));
			before = page.next();
			pages++;
		}
		while (before != null);

		assertThat(pages).isEqualTo(3);
		List<ShardMove> expected = new ArrayList<>(moves(0, 25));
		Collections.reverse(expected);
		assertThat(read).isEqualTo(expected);
	}

	@Test
	void pageContinuesWhereItEndedAlthoughMovesAreAdded() {
		MoveHistory history = create(LARGE);
		history.append(moves(0, 4));
		Page newest = history.read(null, 2);
		history.append(moves(4, 6));

		assertThat(moves(history.read(newest.next(), 10))).containsExactly(move(1), move(0));
	}

	@Test
	void oldestMovesAreRemovedBeyondTheirNumber() {
		MoveHistory history = create(new Bounds(300, Duration.ofDays(1)));
		for (int i = 0; i < 1_000; i += 100) {
			history.append(moves(i, i + 100));
		}

		List<ShardMove> kept = moves(history.read(null, 10_000));
		assertThat(kept).hasSizeBetween(300, 500);
		assertThat(kept.get(0)).isEqualTo(move(999));
	}

	@Test
	void movesAreRemovedAfterTheirRetention() throws Exception {
		Duration retention = Duration.ofMillis(100);
		MoveHistory history = create(new Bounds(10_000, retention));
		for (int i = 0; i < 300; i += 100) {
			history.append(moves(i, i + 100));
		}
		pass(retention.plusMillis(1));
		history.append(List.of(move(300)));

		assertThat(moves(history.read(null, 10_000))).hasSizeLessThanOrEqualTo(101).startsWith(move(300));
	}

	protected static List<ShardMove> moves(int from, int to) {
		List<ShardMove> moves = new ArrayList<>();
		for (int i = from; i < to; i++) {
			moves.add(move(i));
		}
		return moves;
	}

	protected static ShardMove move(int number) {
		return new ShardMove(ShardId.of("visits", number), MemberId.of("a", "1"), MemberId.of("b", "1"),
				new Token(number + 1L), MoveCause.REBALANCE, number, number + 5L, number + 7L);
	}

	protected static List<ShardMove> moves(@Nullable Page page) {
		return (page != null) ? page.entries().stream().map(Entry::move).toList() : List.of();
	}

}
