package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A shard that has nothing to do commits before the interval is over, and a shard that
 * has something to do does not commit more often because of that.
 */
class IdleCommitTests {

	private static final Duration INTERVAL = Duration.ofSeconds(5);

	private static final Duration IDLE = Duration.ofSeconds(1);

	private static final Duration MILLI = Duration.ofMillis(1);

	private final TestSettings settings = new TestSettings().commits(CommitMode.BACKGROUND, INTERVAL, 1000);

	@Test
	void shardThatFallsIdleCommitsOnce() {
		ConsumingShard shard = new ConsumingShard(new Counting(), this.settings);
		shard.deliver(1, 3);
		shard.pass(IDLE.minus(MILLI));
		assertThat(shard.checkpoint().offset()).isNull();
		shard.pass(MILLI);

		assertThat(shard.checkpoint()).isEqualTo(new Checkpoint(new Offset("3"), Map.of("count", "3")));
		shard.pass(INTERVAL.multipliedBy(10));
		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("3"));
		assertThat(shard.threads().hasAlarms()).as("an idle shard costs nothing").isFalse();
	}

	@Test
	void steadyRecordsAreCommittedAtTheInterval() {
		ConsumingShard shard = new ConsumingShard(new Counting(), this.settings);
		Duration between = Duration.ofMillis(100);
		int records = 300;
		for (int number = 1; number <= records; number++) {
			shard.deliver(number, number);
			shard.pass(between);
		}

		assertThat(shard.checkpoints().committed()).as("30 s, one each 5 s")
			.hasSize((int) (between.multipliedBy(records).dividedBy(INTERVAL)));
	}

	@Test
	void recordsThatComeRarelyAreCommittedOncePerIdleTimeAtMost() {
		ConsumingShard shard = new ConsumingShard(new Counting(), this.settings);
		for (int number = 1; number <= 10; number++) {
			shard.deliver(number, number);
			shard.pass(IDLE.plus(MILLI));
		}

		assertThat(shard.checkpoints().committed()).hasSize(10);
	}

	@Test
	void recordBeforeTheIdleTimeIsOverBeginsItAnew() {
		ConsumingShard shard = new ConsumingShard(new Counting(), this.settings);
		shard.deliver(1, 1);
		shard.pass(IDLE.minus(MILLI));
		shard.deliver(2, 2);
		shard.pass(IDLE.minus(MILLI));
		assertThat(shard.checkpoints().committed()).isEmpty();
		shard.pass(MILLI);

		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("2"));
	}

	@Test
	void idleTimeIsAPartOfTheInterval() {
		ConsumingShard shard = new ConsumingShard(new Counting(),
				this.settings.commits(CommitMode.BACKGROUND, Duration.ofMinutes(1), 1000));
		shard.deliver(1, 1);
		shard.pass(Duration.ofSeconds(12).minus(MILLI));
		assertThat(shard.checkpoints().committed()).isEmpty();
		shard.pass(MILLI);

		assertThat(shard.checkpoints().committed()).hasSize(1);
	}

	@Test
	void idleTimeIsNeverShorterThanASecond() {
		ConsumingShard shard = new ConsumingShard(new Counting(),
				this.settings.commits(CommitMode.BACKGROUND, Duration.ofSeconds(2), 1000));
		Duration between = Duration.ofMillis(900);
		int records = 20;
		for (int number = 1; number <= records; number++) {
			shard.deliver(number, number);
			shard.pass(between);
		}

		assertThat(shard.checkpoints().committed()).as("at the interval").hasSizeLessThan(records / 2);
	}

	@Test
	void runningCallIsNotIdle() {
		Counting bean = new Counting();
		ConsumingShard shard = new ConsumingShard(bean, this.settings.ordering(Ordering.KEY, 2));
		shard.offer(1, "a", "r1");
		shard.run();
		bean.during = () -> {
			shard.pass(IDLE.multipliedBy(2));
			assertThat(shard.checkpoints().committed()).isEmpty();
		};
		shard.offer(2, "b", "r2");
		shard.run();
		assertThat(bean.calls).isEqualTo(2);
		assertThat(shard.checkpoints().committed()).isEmpty();
		shard.pass(IDLE);

		assertThat(shard.checkpoints().committed()).containsExactly(new Offset("2"));
	}

	@Test
	void acknowledgmentsInQuickSuccessionAreCommittedAtTheInterval() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, this.settings.commits(CommitMode.MANUAL, INTERVAL, 1000));
		Duration between = Duration.ofMillis(500);
		for (int number = 1; number <= 10; number++) {
			shard.deliver(number, number);
			bean.last.acknowledge();
			shard.run();
			shard.pass(between);
		}
		shard.pass(INTERVAL);

		assertThat(shard.checkpoints().committed()).as("5 s after the first").containsExactly(new Offset("10"));
	}

	@Test
	void unacknowledgedRecordIsNotCommittedByAnIdleShard() {
		Acknowledging bean = new Acknowledging();
		ConsumingShard shard = new ConsumingShard(bean, this.settings.commits(CommitMode.MANUAL, INTERVAL, 1000));
		shard.deliver(1, 1);
		shard.pass(INTERVAL.multipliedBy(2));

		assertThat(shard.checkpoints().committed()).isEmpty();
		assertThat(shard.threads().hasAlarms()).isFalse();
	}

	static final class Counting {

		private int calls;

		private Runnable during = () -> {
		};

		@ShardConsumer("orders")
		void handle(String record, ShardState state) {
			this.calls++;
			state.increment("count", 1);
			this.during.run();
		}

	}

	static final class Acknowledging {

		private Acknowledgment last;

		@ShardConsumer("orders")
		void handle(String record, Acknowledgment acknowledgment) {
			this.last = acknowledgment;
		}

	}

}
