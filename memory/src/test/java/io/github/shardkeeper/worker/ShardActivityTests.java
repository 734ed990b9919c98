package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/** What a worker tells meters, which then need not read the figures of its shard. */
@Promise("Flat cost")
class ShardActivityTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final Poisoned bean = new Poisoned();

	private final ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));

	private ShardActivity now() {
		return this.shard.worker().activity();
	}

	@Test
	void workerRestsUntilARecordArrives() {
		this.shard.deliver(1, 3);
		this.shard.pass(MINUTE);
		ShardActivity before = now();
		assertThat(before.rest()).isNotNull();

		this.shard.pass(MINUTE);
		assertThat(now()).isEqualTo(before);
		assertThat(now().hasRestedSince(before)).isTrue();

		this.shard.offer(4, "key", "r4");
		assertThat(now().rest()).as("not handled yet").isNull();
		this.shard.run();
		assertThat(now().hasRestedSince(before)).as("handled, not committed").isFalse();
		ShardActivity handled = now();
		this.shard.pass(MINUTE);
		assertThat(now().hasRestedSince(handled)).as("committed").isFalse();
	}

	@Test
	void pausedWorkerDoesNotRestWhenARecordArrives() {
		this.shard.worker().pause(true);
		this.shard.run();
		ShardActivity before = now();

		this.shard.deliver(1, 1);

		assertThat(now().hasRestedSince(before)).isFalse();
	}

	@Test
	void workerThatIsBeingDrainedOrMovedDoesNotRest() {
		this.shard.worker().drain();
		assertThat(now().rest()).isNull();
		this.shard.run();
		assertThat(now().rest()).isNull();
	}

	/** It is not read before, so that its lag may grow unnoticed. */
	@Test
	void workerThatHasNotBegunDoesNotRest() {
		this.shard.checkpoints().holdAcquisitions();
		this.shard.restart();

		assertThat(now().rest()).isNull();
	}

	@Test
	void anotherOwnerHasNotRested() {
		ShardActivity before = now();
		this.shard.worker().abandon();
		this.shard.run();
		this.shard.restart();

		assertThat(now().hasRestedSince(before)).isFalse();
		assertThat(now().hasSetNothingAsideSince(before)).isFalse();
	}

	/** A sample that was read before has not seen it: the next one must read again. */
	@Test
	void deadLetterCountsOnceItsCommitIsAnswered() {
		this.shard.checkpoints().holdAnswers();
		this.bean.poison.add("r2");
		this.shard.deliver(1, 2);
		ShardActivity before = now();
		assertThat(this.shard.deadLetters()).as("written, not answered").hasSize(1);

		this.shard.checkpoints().answerAll();
		this.shard.run();

		assertThat(now().hasSetNothingAsideSince(before)).isFalse();
		ShardActivity after = now();
		this.shard.deliver(3, 9);
		this.shard.pass(MINUTE);
		assertThat(now().hasSetNothingAsideSince(after)).as("others are handled").isTrue();
	}

	/** An older copy of the store may have them. */
	@Test
	void writingBackCountsAsWell() {
		this.shard.deliver(1, 2);
		this.shard.pass(SECOND.multipliedBy(10));
		ShardActivity before = now();

		this.shard.worker().writeBack();
		this.shard.run();

		assertThat(now().hasSetNothingAsideSince(before)).isFalse();
	}

	static final class Poisoned {

		private final List<String> poison = new ArrayList<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			if (this.poison.contains(payload)) {
				throw new IllegalStateException("cannot handle " + payload);
			}
		}

	}

}
