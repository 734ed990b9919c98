package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/** What an owner does with entries of the state that expire, by its wall clock. */
@Promise("State exactly once")
class ExpiringStateWorkerTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final Sessions bean = new Sessions();

	private Instant now = Instant.ofEpochSecond(1_000_000);

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void shardWithoutRecordsRemovesWhatHasExpired(Ordering ordering) {
		ConsumingShard shard = consume(new TestSettings().ordering(ordering, 8));
		handle(shard, 1, (state) -> {
			state.put("session", "ann", MINUTE);
			state.put("stays", 1);
		});
		pass(shard, SECOND);
		assertThat(shard.checkpoint().state())
			.isEqualTo(Map.of("session", "@1000060000 \"ann\"", "stays", "1", "calls", "1"));
		pass(shard, SECOND.multipliedBy(58));
		assertThat(shard.checkpoint().state()).containsKey("session");
		int before = shard.checkpoints().sent().size();
		pass(shard, SECOND.multipliedBy(10));

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("stays", "1", "calls", "1"));
		pass(shard, MINUTE);
		assertThat(shard.checkpoints().sent()).as("one commit").hasSize(before + 1);
	}

	@Test
	void shardWithoutWhatExpiresIsNeverWoken() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> state.put("stays", 1));
		pass(shard, MINUTE);

		assertThat(shard.threads().hasAlarms()).isFalse();
	}

	@Test
	void shardSleepsUntilTheCommitThatRemoves() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> state.put("session", "ann", MINUTE));
		pass(shard, MINUTE);
		assertThat(shard.checkpoint().state()).as("not committed yet").containsKey("session");
		shard.threads().ring(Duration.ZERO);

		assertThat(shard.threads().hasTasks()).isFalse();
	}

	@Test
	void handlerWithoutRecordsRemovesWhatHasExpired() {
		this.bean.next = (state) -> state.put("session", "ann", SECOND.multipliedBy(10));
		Looping looping = new Looping(this.bean);
		ConsumingShard shard = ConsumingShard.withoutRecords(looping, TopicSchedule.NONE, () -> this.now);
		pass(shard, SECOND.multipliedBy(5));
		assertThat(shard.checkpoint().state()).containsOnlyKeys("session", "calls");
		pass(shard, SECOND.multipliedBy(15));

		assertThat(shard.checkpoint().state()).containsOnlyKeys("calls");
	}

	@Test
	void removalIsLimitedForEachCommitAndGoesOnUntilAllAreRemoved() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> {
			for (int session = 0; session < 2500; session++) {
				state.put("session " + session, session, MINUTE);
			}
		});
		pass(shard, MINUTE);
		int before = shard.checkpoints().sent().size();
		pass(shard, SECOND.multipliedBy(7));

		List<Commit> removals = shard.checkpoints().sent().subList(before, shard.checkpoints().sent().size());
		assertThat(removals).extracting((commit) -> commit.changes().size()).containsExactly(1000, 1000, 500);
		assertThat(shard.checkpoint().state()).containsOnlyKeys("calls");
	}

	@Test
	void nextOwnerKnowsWhatExpires() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> state.put("session", "ann", MINUTE));
		release(shard);
		this.now = this.now.plus(MINUTE);
		shard.restart();
		handle(shard, 2, (state) -> assertThat(state.keys()).containsExactly("calls"));
		pass(shard, SECOND.multipliedBy(6));

		assertThat(shard.checkpoint().state()).containsOnlyKeys("calls");
	}

	/** Earlier or later by as much as the clocks differ. */
	@Test
	void clockOfTheOwnerDecides() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> {
			state.put("one", 1, MINUTE);
			state.put("two", 2, MINUTE.multipliedBy(2));
		});
		release(shard);
		this.now = this.now.plusSeconds(61);
		shard.restart();
		handle(shard, 2, (state) -> assertThat(state.keys()).contains("two").doesNotContain("one"));
		shard.worker().abandon();
		this.now = this.now.minusSeconds(2);
		shard.restart();
		handle(shard, 2, (state) -> {
			assertThat(state.get("one", Long.class)).as("its clock is behind, and nothing was removed").contains(1L);
			state.put("three", 3, MINUTE);
		});
		pass(shard, SECOND);
		handle(shard, 3, (state) -> assertThat(state.keys()).containsExactly("calls", "three", "two"));
	}

	@Test
	void clockThatIsSetForwardExpiresAtOnceAndIsNoticedByAnIdleShard() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> state.put("session", "ann", MINUTE.multipliedBy(600)));
		pass(shard, SECOND);
		this.now = this.now.plus(Duration.ofHours(11));
		handle(shard, 2, (state) -> assertThat(state.keys()).doesNotContain("session"));
		this.now = this.now.minus(Duration.ofHours(11));
		handle(shard, 3, (state) -> assertThat(state.keys()).as("not removed yet").contains("session"));
		pass(shard, MINUTE.multipliedBy(2));
		assertThat(shard.checkpoint().state()).containsKey("session");
		this.now = this.now.plus(Duration.ofHours(11));
		pass(shard, MINUTE.plus(SECOND.multipliedBy(6)));

		assertThat(shard.checkpoint().state()).containsOnlyKeys("calls");
		this.now = this.now.minus(Duration.ofHours(11));
		handle(shard, 4, (state) -> {
			assertThat(state.get("session", String.class)).as("removed").isEmpty();
			state.put("session", "bob", MINUTE);
		});
		pass(shard, SECOND.multipliedBy(10));
		assertThat(shard.checkpoint().state()).containsKey("session");
	}

	@Test
	void putThatWasNotCommittedSurvivesTheRemovalOfTheValueBefore() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> state.put("session", "ann", SECOND.multipliedBy(10)));
		pass(shard, SECOND.multipliedBy(9));
		shard.checkpoints().holdAnswers();
		pass(shard, SECOND.multipliedBy(8));
		assertThat(shard.checkpoints().heldAnswers()).as("the removal is on its way").isOne();
		handle(shard, 2, (state) -> {
			assertThat(state.get("session", String.class)).isEmpty();
			state.put("session", "bob", MINUTE);
		});
		shard.checkpoints().answerAll();
		pass(shard, SECOND.multipliedBy(6));

		assertThat(shard.checkpoint().state()).containsEntry("session", "@1000077000 \"bob\"");
	}

	@Test
	void commitThatTheStoreHasLostIsWrittenBackWithoutWhatHasExpired() {
		ConsumingShard shard = consume(new TestSettings());
		handle(shard, 1, (state) -> {
			state.put("session", "ann", SECOND.multipliedBy(10));
			state.put("later", "bob", MINUTE);
		});
		Object before = shard.checkpoints().snapshot();
		pass(shard, SECOND.multipliedBy(20));
		assertThat(shard.checkpoint().state()).containsOnlyKeys("later", "calls");
		shard.checkpoints().loseWritesSince(before);
		shard.worker().writeBack();
		pass(shard, SECOND);

		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("later", "@1000060000 \"bob\"", "calls", "1"));
	}

	@Test
	void defaultOfTheTopicAppliesToWhatIsPutWithoutATime() {
		ConsumingShard shard = consume(new TestSettings().stateTtl(MINUTE));
		handle(shard, 1, (state) -> {
			state.put("session", "ann");
			state.put("day", 1, Duration.ofDays(1));
		});
		pass(shard, SECOND);
		assertThat(shard.checkpoint().state())
			.isEqualTo(Map.of("session", "@1000060000 \"ann\"", "day", "@1086400000 1", "calls", "@1000060000 1"));
		pass(shard, MINUTE.multipliedBy(2));

		assertThat(shard.checkpoint().state()).containsOnlyKeys("day");
	}

	@Test
	void valueOfARecordThatIsNotAcknowledgedIsNotRemoved() {
		Acknowledging acknowledging = new Acknowledging();
		ConsumingShard shard = ConsumingShard.withWallClock(acknowledging,
				new TestSettings().commits(CommitMode.MANUAL, SECOND, 1000), () -> this.now);
		shard.offer(1, "1", "1");
		shard.run();
		acknowledging.last.acknowledge();
		pass(shard, SECOND.multipliedBy(2));
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("session", "@1000060000 1"));
		shard.offer(2, "2", "2");
		shard.run();
		this.now = this.now.plusSeconds(70);
		pass(shard, SECOND.multipliedBy(70));
		assertThat(shard.checkpoint().state()).as("what the record is handled on after a crash")
			.isEqualTo(Map.of("session", "@1000060000 1"));

		acknowledging.last.acknowledge();
		pass(shard, SECOND.multipliedBy(3));
		assertThat(shard.checkpoint().state()).isEmpty();
	}

	@Test
	void callsThatTakeLongerThanEntriesLiveAreNotRepeated() {
		ConsumingShard shard = consume(new TestSettings().ordering(Ordering.NONE, 2));
		handle(shard, 1, (state) -> {
			for (int key = 0; key < 20; key++) {
				state.put("k" + key, key, SECOND.multipliedBy(key + 2));
			}
		});
		Set<String> seen = new TreeSet<>();
		handle(shard, 2, (state) -> {
			for (int key = 0; key < 20; key++) {
				assertThat(state.keys()).hasSize(21);
				state.get("k" + key, Long.class).ifPresent((value) -> seen.add("k" + value));
				// The worker runs meanwhile, and so do other calls.
				handle(shard, 100 + key, (other) -> {
				});
				pass(shard, SECOND);
			}
			state.put("seen", seen.size());
		});
		pass(shard, MINUTE);

		assertThat(seen).as("one call sees one time").hasSize(20);
		assertThat(this.bean.numbers).containsOnlyOnce(2);
		assertThat(shard.checkpoint().state()).isEqualTo(Map.of("calls", "22", "seen", "20"));
	}

	private ConsumingShard consume(TestSettings settings) {
		return ConsumingShard.withWallClock(this.bean, settings, () -> this.now);
	}

	private void handle(ConsumingShard shard, int number, Consumer<ShardState> code) {
		this.bean.next = code;
		shard.offer(number, Integer.toString(number), Integer.toString(number));
		shard.run();
		assertThat(this.bean.numbers).contains(number);
		assertThat(shard.worker().problem()).isNull();
	}

	private void pass(ConsumingShard shard, Duration duration) {
		for (long second = 0; second < duration.toSeconds(); second++) {
			this.now = this.now.plusSeconds(1);
			shard.pass(SECOND);
		}
	}

	private static void release(ConsumingShard shard) {
		shard.worker().drain();
		shard.run();
	}

	/** Bean of the application. */
	static final class Sessions {

		private final List<Integer> numbers = new ArrayList<>();

		private Consumer<ShardState> next = (state) -> {
		};

		@ShardConsumer("orders")
		void handle(int number, ShardState state) {
			this.numbers.add(number);
			Consumer<ShardState> code = this.next;
			this.next = (other) -> {
			};
			code.accept(state);
			state.increment("calls", 1);
		}

	}

	static final class Looping {

		private final Sessions sessions;

		Looping(Sessions sessions) {
			this.sessions = sessions;
		}

		@ShardConsumer(value = "orders", interval = "1h")
		void poll(ShardState state) {
			this.sessions.handle(0, state);
		}

	}

	static final class Acknowledging {

		private Acknowledgment last;

		@ShardConsumer("orders")
		void handle(int number, ShardState state, Acknowledgment acknowledgment) {
			state.put("session", number, MINUTE);
			this.last = acknowledgment;
		}

	}

}
