package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.memory.MemoryMoveHistory;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveReporter.Filter;
import io.github.shardkeeper.history.MoveReporter.Moves;
import io.github.shardkeeper.report.MoveReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

class MoveReporterTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private final MoveHistory history = new MemoryMoveHistory(new Bounds(100_000, Duration.ofDays(1)));

	private final MoveReporter reporter = new MoveReporter(this.history);

	@Test
	void reportHasDurationsOfThePhases() {
		this.history.append(List
			.of(new ShardMove(ShardId.of("visits", 3), A, B, new Token(20), MoveCause.JOIN, 1_000, 1_070, 1_100)));

		assertThat(this.reporter.moves(Filter.NONE, null, 10).moves()).singleElement()
			.usingRecursiveComparison()
			.ignoringFields("id")
			.isEqualTo(new MoveReport("", "visits", "3", "a~1", "b~1", 20, "JOIN", Instant.ofEpochMilli(1_000),
					Duration.ofMillis(70), Duration.ofMillis(30)));
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
