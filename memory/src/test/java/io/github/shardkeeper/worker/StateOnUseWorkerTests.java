package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Shards whose state is read from the store when calls use it. */
@Promise("State exactly once")
class StateOnUseWorkerTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration COMMIT = Duration.ofSeconds(5);

	private final Application bean = new Application();

	@Test
	void ownerReadsWhatItsCallsUseAndCommitsWhatTheyChange() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1", "b", "2", "c", "3"));
		handle(shard, 1, (state) -> {
			assertThat(state.get("a", Long.class)).contains(1L);
			assertThat(state.get("none", Long.class)).isEmpty();
			state.put("b", 5);
			state.increment("c", 1);
		});
		handle(shard, 2, (state) -> {
			assertThat(state.get("none", Long.class)).isEmpty();
			assertThat(state.get("b", Long.class)).contains(5L);
			assertThat(state.increment("c", 1)).isEqualTo(5);
			state.remove("a");
		});
		assertThat(shard.checkpoints().read()).containsExactly(Set.of("a"), Set.of("none"), Set.of("c"));
		shard.pass(COMMIT);

		Commit last = shard.checkpoints().sent().get(shard.checkpoints().sent().size() - 1);
		Map<String, String> changes = new HashMap<>(Map.of("b", "5", "c", "5"));
		changes.put("a", null);
		assertThat(last.changes()).isEqualTo(changes);
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("2"), Map.of("b", "5", "c", "5")));
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void keysAreThoseOfTheStoreWithTheChangesOfCalls(Ordering ordering) {
		ConsumingShard shard = withState(new TestSettings().ordering(ordering, 4), Map.of("a", "1", "b", "2"));
		handle(shard, 1, (state) -> {
			state.put("c", 3);
			state.remove("a");
			state.increment("cc", 4);
			assertThat(state.keys()).containsExactly("b", "c", "cc");
			assertThat(state.keys("c")).containsExactly("c", "cc");
			assertThat(state.keys("a")).isEmpty();
			state.keys("cc").forEach(state::remove);
		});
		handle(shard, 2, (state) -> assertThat(state.keys()).containsExactly("b", "c"));
		shard.pass(COMMIT);

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("b", "2", "c", "3"));
	}

	@Test
	void prefetchReadsSeveralEntriesAtOnce() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1", "b", "2"));
		handle(shard, 1, (state) -> {
			state.prefetch(List.of("a", "b", "c"));
			assertThat(state.get("a", Long.class)).contains(1L);
			assertThat(state.get("b", Long.class)).contains(2L);
			assertThat(state.get("c", Long.class)).isEmpty();
		});

		assertThat(shard.checkpoints().read()).containsExactly(Set.of("a", "b", "c"));
	}

	/** Whatever the call makes of the exception. */
	@ParameterizedTest
	@EnumSource(Ordering.class)
	void callThatCannotReadIsRepeatedAndDoesNotCountAsFailed(Ordering ordering) {
		ConsumingShard shard = withState(new TestSettings().ordering(ordering, 4).maxAttempts(1), Map.of("a", "1"));
		shard.checkpoints().setAway(true);
		Consumer<ShardState> hides = (state) -> {
			try {
				state.increment("a", 1);
			}
			catch (RuntimeException ex) {
				state.put("a", -1);
			}
		};
		this.bean.next.addAll(List.of(hides, hides, (state) -> state.increment("a", 1)));
		shard.deliver(1, 1);
		assertThat(shard.worker().problem().text()).contains("away, caused by the test");
		shard.pass(SECOND.multipliedBy(30));
		assertThat(this.bean.next).hasSizeLessThan(3);
		this.bean.next.clear();
		this.bean.next.add((state) -> state.increment("a", 1));
		shard.checkpoints().setAway(false);
		shard.pass(SECOND.multipliedBy(60));
		shard.pass(COMMIT);

		assertThat(shard.worker().problem()).isNull();
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("a", "2")));
	}

	@Test
	void lostCommitEndsTheOwnershipAndTheNextOneResumesFromTheStore() {
		ConsumingShard shard = withState(new TestSettings(), Map.of());
		count(shard, 1, 3);
		shard.pass(COMMIT);
		Object before = shard.checkpoints().snapshot();
		count(shard, 4, 6);
		shard.pass(COMMIT);
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("6"), Map.of("count", "6")));
		shard.checkpoints().loseWritesSince(before);
		count(shard, 7, 7);
		shard.pass(COMMIT);

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
		shard.restart();
		assertThat(shard.reader().calls()).endsWith("start after 3");
		count(shard, 4, 7);
		shard.pass(COMMIT);
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("7"), Map.of("count", "7")));
	}

	@Test
	void readOfALostStateEndsTheOwnership() {
		ConsumingShard shard = withState(new TestSettings().maxAttempts(1), Map.of("a", "1"));
		Object before = shard.checkpoints().snapshot();
		count(shard, 1, 1);
		shard.pass(COMMIT);
		shard.checkpoints().loseWritesSince(before);
		this.bean.next.add((state) -> state.get("a", Long.class));
		shard.deliver(2, 2);
		shard.pass(SECOND);

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("0"), Map.of("a", "1")));
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void ownerThatIsReplacedDuringACallReadsNothing(Ordering ordering) {
		ConsumingShard shard = withState(new TestSettings().ordering(ordering, 4).maxAttempts(1), Map.of("a", "1"));
		Token newer = new Token(50);
		this.bean.next.add((state) -> {
			shard.checkpoints().store().acquireNow(ConsumingShard.SHARD, newer);
			shard.checkpoints()
				.store()
				.commit(ConsumingShard.SHARD, newer,
						Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("8"), Map.of("a", "8")));
			assertThatThrownBy(() -> state.get("a", Long.class)).isInstanceOf(StoreUnavailableException.class)
				.hasMessageContaining("newer owner");
		});
		shard.deliver(1, 1);
		shard.pass(SECOND);

		assertThat(this.bean.failures).isEmpty();
		assertThat(this.bean.next).isEmpty();
		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.deadLetters()).isEmpty();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("8"), Map.of("a", "8")));
	}

	/** Without a record nothing else would find it. */
	@Test
	void shardWithoutRecordsComparesItsCommitsWhenTheStoreMayHaveLostSome() {
		ConsumingShard shard = withState(new TestSettings(), Map.of());
		Object before = shard.checkpoints().snapshot();
		count(shard, 1, 2);
		shard.pass(COMMIT);
		shard.worker().writeBack();
		shard.run();
		assertThat(shard.ended()).as("nothing is lost").isEmpty();
		shard.checkpoints().loseWritesSince(before);
		shard.worker().writeBack();
		shard.run();

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint().state()).isEmpty();
	}

	@Test
	void entriesOfAnEarlierOwnershipAreNotKept() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1"));
		handle(shard, 1, (state) -> state.get("a", Long.class));
		shard.worker().drain();
		shard.run();
		Token other = new Token(50);
		shard.checkpoints().store().acquireNow(ConsumingShard.SHARD, other);
		shard.checkpoints()
			.store()
			.commit(ConsumingShard.SHARD, other,
					Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("8"), Map.of("a", "8")));
		shard.restart(new Token(51));

		handle(shard, 9, (state) -> assertThat(state.get("a", Long.class)).contains(8L));
	}

	@Test
	void seekThatRemovesTheStateRemovesAlsoWhatWasNeverRead() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1", "b", "2"));
		count(shard, 1, 2);
		shard.pass(COMMIT);
		shard.checkpoints().seek(ConsumingShard.SHARD, new Offset("0"), true);
		shard.worker().attend();
		shard.run();
		this.bean.next.add((state) -> {
			assertThat(state.keys()).isEmpty();
			assertThat(state.get("a", Long.class)).isEmpty();
			state.increment("count", 1);
		});
		shard.deliver(1, 1);
		shard.pass(COMMIT);

		assertThat(this.bean.failures).isEmpty();
		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of("count", "1")));
		handle(shard, 2, (state) -> assertThat(state.get("b", Long.class)).isEmpty());
	}

	@Test
	void callIsRepeatedIfAnotherOneHasChangedWhatItHasRead() {
		ConsumingShard shard = withState(new TestSettings().ordering(Ordering.NONE, 4), Map.of("a", "1"));
		List<Long> seen = new ArrayList<>();
		Consumer<ShardState> changes = (state) -> state.put("a", state.get("a", Long.class).orElseThrow() * 10);
		this.bean.next.add((state) -> {
			seen.add(state.get("a", Long.class).orElseThrow());
			handle(shard, 2, changes);
			state.put("a", seen.get(0) + 1);
		});
		this.bean.last = (state) -> {
			seen.add(state.get("a", Long.class).orElseThrow());
			state.put("a", seen.get(1) + 1);
		};
		shard.deliver(1, 1);
		shard.pass(COMMIT);

		assertThat(seen).containsExactly(1L, 10L);
		assertThat(shard.checkpoint().state()).containsEntry("a", "11");
	}

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void sumsAreExactWithACacheThatIsTooSmall(Ordering ordering) {
		Map<String, String> stored = new HashMap<>();
		IntStream.range(0, 20).forEach((i) -> stored.put("k" + i, "\"" + "x".repeat(200_000) + "\""));
		stored.put("sum", "100");
		ConsumingShard shard = withState(
				new TestSettings().ordering(ordering, 3).commits(CommitMode.BACKGROUND, SECOND, 3), stored);
		this.bean.last = (state) -> {
			for (int i = 0; i < 20; i++) {
				assertThat(state.get("k" + i, String.class).orElseThrow()).hasSize(200_000);
			}
			state.increment("sum", 1);
		};
		for (int number = 1; number <= 10; number++) {
			shard.offer(number, Integer.toString(number), "r");
		}
		shard.run();
		shard.pass(COMMIT);

		assertThat(this.bean.failures).isEmpty();
		assertThat(shard.checkpoint().state().get("sum")).isEqualTo("110");
		assertThat(shard.checkpoints().read()).hasSizeGreaterThan(50);
	}

	@Test
	void expiredEntriesThatNoCallUsesAreRemoved() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("old", "@1000 1", "stays", "2"));
		handle(shard, 1, (state) -> assertThat(state.keys()).containsExactly("stays"));
		shard.pass(Duration.ofMinutes(1));
		shard.pass(SECOND);
		shard.pass(COMMIT);

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("stays", "2"));
		shard.checkpoints().setAway(true);
		shard.pass(Duration.ofHours(1));
		assertThat(shard.ended()).isEmpty();
	}

	@Test
	void callbacksReadTheState() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1"));
		this.bean.assigned = (state) -> state.increment("a", 1);
		this.bean.revoked = (state) -> state.increment("a", 10);
		shard.worker().abandon();
		shard.run();
		shard.restart();
		shard.worker().drain();
		shard.run();

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("a", "22"));
	}

	@Test
	void callbackThatCannotReadIsRepeated() {
		ConsumingShard shard = withState(new TestSettings(), Map.of("a", "1"));
		this.bean.revoked = (state) -> state.increment("a", 10);
		shard.checkpoints().setAway(true);
		shard.worker().drain();
		shard.run();
		assertThat(shard.ended()).isEmpty();
		shard.checkpoints().setAway(false);
		shard.pass(SECOND.multipliedBy(10));

		assertThat(shard.ended()).containsExactly("released");
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("a", "11"));
	}

	private void count(ConsumingShard shard, int first, int last) {
		for (int number = first; number <= last; number++) {
			handle(shard, number, (state) -> state.increment("count", 1));
		}
	}

	private void handle(ConsumingShard shard, int number, Consumer<ShardState> code) {
		this.bean.next.add(code);
		shard.offer(number, Integer.toString(number), "r" + number);
		shard.run();
		assertThat(this.bean.failures).isEmpty();
	}

	/** Of which another owner has written the state. */
	private ConsumingShard withState(TestSettings settings, Map<String, String> state) {
		settings.stateRead(StateRead.ON_USE);
		return ConsumingShard.withWallClock(this.bean, settings, () -> Instant.ofEpochSecond(10), (created) -> {
			Token earlier = new Token(0);
			created.checkpoints().store().acquireNow(ConsumingShard.SHARD, earlier);
			created.checkpoints()
				.store()
				.commit(ConsumingShard.SHARD, earlier,
						Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("0"), new HashMap<>(state)));
		});
	}

	/** Bean of the application. */
	static final class Application {

		private final List<Consumer<ShardState>> next = new ArrayList<>();

		/** What calls do that come later. */
		private Consumer<ShardState> last = (state) -> {
		};

		private Consumer<ShardState> assigned = (state) -> {
		};

		private Consumer<ShardState> revoked = (state) -> {
		};

		private final List<Throwable> failures = new ArrayList<>();

		@OnShardAssigned
		void assigned(ShardState state) {
			this.assigned.accept(state);
		}

		@ShardConsumer("orders")
		void handle(byte[] record, ShardState state) {
			Consumer<ShardState> code = this.next.isEmpty() ? this.last : this.next.remove(0);
			try {
				code.accept(state);
			}
			catch (AssertionError ex) {
				this.failures.add(ex);
				throw ex;
			}
		}

		@OnShardRevoked
		void revoked(ShardState state) {
			this.revoked.accept(state);
		}

	}

}
