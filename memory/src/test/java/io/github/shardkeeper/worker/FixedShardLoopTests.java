package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that take no record.
 */
class FixedShardLoopTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Looping bean = new Looping();

	private final ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());

	@Test
	void handlerWithoutRecordsIsCalledRepeatedlyWhileTheShardIsOwned() {
		assertThat(this.bean.calls).isEqualTo(1);
		this.shard.pass(SECOND.multipliedBy(9));
		assertThat(this.bean.calls).isEqualTo(1);
		this.shard.pass(SECOND);
		assertThat(this.bean.calls).isEqualTo(2);
		this.shard.worker().wake();
		this.shard.run();
		assertThat(this.bean.calls).isEqualTo(2);
		this.shard.worker().drain();
		this.shard.run();
		this.shard.pass(SECOND.multipliedBy(60));

		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(this.shard.ended()).containsExactly("released");
	}

	@Test
	void readsNothing() {
		assertThat(this.shard.reader().calls()).doesNotContain("start after null");
	}

	@Test
	void stateIsCommittedInTheBackgroundAndBeforeTheRelease() {
		this.shard.pass(SECOND.multipliedBy(5));
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "1"));
		this.shard.pass(SECOND.multipliedBy(5));
		this.shard.worker().drain();
		this.shard.run();

		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("count", "2"));
	}

	@Test
	void failedCallIsRepeatedAfterAGrowingPause() {
		this.bean.failing = true;
		this.shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(this.shard.worker().problem()).asString().contains("Looping.poll", "keeps failing");
		this.shard.pass(Duration.ofMillis(200));
		assertThat(this.bean.calls).isEqualTo(3);
		this.shard.pass(Duration.ofMillis(399));
		assertThat(this.bean.calls).isEqualTo(3);
		this.bean.failing = false;
		this.shard.pass(Duration.ofMillis(1));

		assertThat(this.bean.calls).isEqualTo(4);
		assertThat(this.shard.worker().problem()).isNull();
		this.shard.worker().drain();
		this.shard.run();
		assertThat(this.shard.checkpoint().state()).as("what failed calls wrote is undone")
			.isEqualTo(Map.of("count", "2"));
	}

	@Test
	void noCallIsMadeWithoutALeaseUntilItIsHeldAgain() {
		this.shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).isEqualTo(2);
		this.shard.threads().pass(Duration.ofDays(2));
		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(this.shard.threads().hasAlarms()).as("a shard that waits for the lease costs nothing").isFalse();
		this.shard.renewLease();
		this.shard.worker().wake();
		this.shard.run();

		assertThat(this.bean.calls).isEqualTo(3);
		this.shard.pass(SECOND.multipliedBy(10));
		assertThat(this.bean.calls).isEqualTo(4);
	}

	/** Bean of the application. */
	static final class Looping {

		private int calls;

		private boolean failing;

		@ShardConsumer(value = "orders", interval = "10s")
		void poll(ShardState state) {
			this.calls++;
			state.increment("count", 1);
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
