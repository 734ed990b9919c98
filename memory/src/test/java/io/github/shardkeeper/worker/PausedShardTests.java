package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

import static org.assertj.core.api.Assertions.assertThat;

/** Shards that an operator has paused. */
class PausedShardTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Application bean = new Application();

	@ParameterizedTest
	@EnumSource(Ordering.class)
	void pausedShardHandlesNothingAndCommitsWhatIsDone(Ordering ordering) {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().ordering(ordering, 8));
		shard.deliver(1, 2);
		shard.worker().pause(true);
		shard.run();
		shard.deliver(3, 5);
		shard.pass(SECOND);

		assertThat(this.bean.handled).containsExactly("r1", "r2");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("2"));
		assertThat(shard.worker().problem()).isNull();
		shard.pass(SECOND.multipliedBy(600));
		assertThat(this.bean.handled).hasSize(2);
		assertThat(shard.worker().problem()).as("nobody has to look at it").isNull();
		shard.worker().pause(false);
		shard.run();

		assertThat(this.bean.handled).containsExactly("r1", "r2", "r3", "r4", "r5");
	}

	@Test
	void callThatRunsWhenItIsPausedFinishes() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		this.bean.during = () -> shard.worker().pause(true);
		shard.deliver(1, 3);

		assertThat(this.bean.handled).containsExactly("r1");
		assertThat(shard.checkpoint().offset()).isEqualTo(new Offset("1"));
	}

	@Test
	void shardThatIsPausedWhenItIsAcquiredStartsPaused() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		shard.restartPaused();
		shard.deliver(1, 3);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.handled).isEmpty();

		shard.worker().pause(false);
		shard.run();

		assertThat(this.bean.handled).hasSize(3);
	}

	@Test
	void pausedShardIsHandedOver() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		shard.deliver(1, 2);
		shard.worker().pause(true);
		shard.run();
		shard.deliver(3, 3);
		shard.worker().drain();
		shard.run();

		assertThat(shard.ended()).containsExactly("released");
		assertThat(this.bean.handled).hasSize(2);
	}

	@Test
	void recordsOfTheRetryQueueWait() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1).onFailure(ConsumerSettings.OnFailure.DEAD_LETTER));
		this.bean.failing = true;
		shard.deliver(1, 1);
		assertThat(shard.deadLetters()).isNotEmpty();
		this.bean.failing = false;
		shard.worker().pause(true);
		shard.run();
		shard.sendBackAll();
		shard.pass(SECOND.multipliedBy(60));
		assertThat(this.bean.handled).containsExactly("r1");

		shard.worker().pause(false);
		shard.run();
		shard.pass(SECOND);

		assertThat(this.bean.handled).containsExactly("r1", "r1");
	}

	@Test
	void noRunIsStartedWhilePaused() {
		Looping looping = new Looping();
		ConsumingShard shard = new ConsumingShard(looping, new TestSettings());
		assertThat(looping.calls).isEqualTo(1);
		shard.worker().pause(true);
		shard.run();
		assertThat(shard.checkpoint().state()).as("what is done is committed").containsEntry("count", "1");
		shard.pass(SECOND.multipliedBy(60));
		assertThat(looping.calls).isEqualTo(1);
		assertThat(shard.worker().problem()).isNull();

		shard.worker().pause(false);
		shard.run();

		assertThat(looping.calls).isEqualTo(2);
		shard.pass(SECOND.multipliedBy(10));
		assertThat(looping.calls).isEqualTo(3);
	}

	/** Bean of the application. */
	static final class Application {

		private final List<String> handled = new ArrayList<>();

		private boolean failing;

		private Runnable during = () -> {
		};

		@ShardConsumer("orders")
		void handle(ShardRecord<String> record) {
			this.handled.add(record.payload());
			this.during.run();
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

	/** Bean of the application. */
	static final class Looping {

		private int calls;

		@ShardConsumer(value = "orders", interval = "10s")
		void poll(ShardState state) {
			this.calls++;
			state.increment("count", 1);
		}

	}

}
