package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.Entry;
import io.github.shardkeeper.history.MoveHistory.Page;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/** What every store of the history of moves does. */
public abstract class MoveHistoryContract {

	private static final Bounds LARGE = new Bounds(1_000, Duration.ofDays(1));

	/** Returns an empty history. */
	protected abstract MoveHistory create(Bounds bounds);

	/** Lets the time of the store pass. */
	protected abstract void pass(Duration time) throws Exception;

	@Test
	void emptyHistoryHasNoMoves() {
		assertThat(create(LARGE).read(null, 10)).isEqualTo(new Page(List.of(), null));
	}

	@Test
	void movesAreReadAsTheyWereWritten() {
		MoveHistory history = create(LARGE);
		ShardMove first = new ShardMove(new ShardId("orders", "7"), null, MemberId.of("a.example-1", "x"),
				new Token(1795234342450619L), MoveCause.FIRST_OWNER, 1795234342450L, 1795234342450L, 1795234342450L);
		ShardMove last = new ShardMove(new ShardId("orders", "7"), MemberId.of("a.example-1", "x"), null,
				new Token(1795234342450619L), MoveCause.COMPLETED, 1, 2, 3);
		history.append(List.of(first, move(2), last));

		assertThat(moves(history.read(null, 10))).containsExactly(last, move(2), first);
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
