package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;

import static io.github.shardkeeper.worker.ConsumingShard.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * State that a worker has in memory only: whether it can be restored to a store, and the
 * report if it cannot.
 */
@CapturesOutput
@Promise("State exactly once")
class ForfeitTests {

	private static final Token NEWER = new Token(100);

	private final ConsumingShard shard = new ConsumingShard(new Counter(),
			new TestSettings().commits(CommitMode.BATCH, Duration.ofSeconds(1), 500));

	@Test
	void supersededOwnerReportsItsPositionAndThatOfTheStore(CapturedOutput output) {
		this.shard.deliver(1, 3);
		this.shard.checkpoints().empty();
		this.shard.checkpoints().acquireNow(SHARD, NEWER);
		this.shard.checkpoints()
			.store()
			.commit(SHARD, NEWER, Commit.of(new CommitNumber(1, 0, 0), new Offset("1"), Map.of("n", "7")));
		this.shard.worker().forfeit(Forfeit.Cause.SUPERSEDED);
		this.shard.run();

		assertThat(output).containsOnlyOnce(" ERROR ")
			.contains("Offset and state of orders/1 are lost",
					"They were offset 3 and 1 entries of state under token 1; the store is at offset 1");
		assertThat(this.shard.checkpoint().offset()).isEqualTo(new Offset("1"));
		assertThat(this.shard.checkpoint().state()).isEqualTo(Map.of("n", "7"));
		assertThat(this.shard.worker().ended()).isCompleted();
		assertThat(this.shard.ended()).as("nothing is released").isEmpty();
	}

	@Test
	void supersededOwnerReportsItsPositionWithoutTheStore(CapturedOutput output) {
		this.shard.deliver(1, 3);
		this.shard.checkpoints().empty();
		this.shard.worker().forfeit(Forfeit.Cause.SUPERSEDED);
		this.shard.run();
		assertThat(output).contains("under token 1; the store has no offset yet");

		this.shard.restart();
		this.shard.deliver(1, 1);
		this.shard.checkpoints().setAway(true);
		this.shard.worker().forfeit(Forfeit.Cause.SUPERSEDED);
		this.shard.run();
		assertThat(output).contains("under token 2; the offset in the store cannot be read: ");
	}

	@Test
	void stopWithoutAStoreReportsTheLoss(CapturedOutput output) {
		this.shard.deliver(1, 3);
		this.shard.checkpoints().setAway(true);
		this.shard.deliver(4, 5);
		this.shard.worker().forfeit(Forfeit.Cause.STOPPED);
		this.shard.run();

		assertThat(output)
			.contains("orders/1 stops while the store does not reply, at offset 5 with 1 entries of state");
		assertThat(this.shard.worker().ended()).isCompleted();
	}

	@Test
	void shardThatWasNotAcquiredIsNotRestorable(CapturedOutput output) {
		this.shard.checkpoints().holdAcquisitions();
		this.shard.restart();
		assertThat(this.shard.worker().isRestorable()).isFalse();
		this.shard.worker().forfeit(Forfeit.Cause.STOPPED);
		this.shard.run();

		assertThat(this.shard.worker().ended()).isCompleted();
		assertThat(output).doesNotContain("stops without");
	}

	@Test
	void acquiredShardIsRestorableUntilItIsLost() {
		assertThat(this.shard.worker().isRestorable()).isTrue();
		this.shard.worker().abandon();
		assertThat(this.shard.worker().isRestorable()).isFalse();
		this.shard.run();
		assertThat(this.shard.worker().isRestorable()).isFalse();
	}

	@Test
	void seekingShardIsNotRestorable() {
		this.shard.deliver(1, 3);
		this.shard.checkpoints().holdAnswers();
		this.shard.deliver(4, 4);
		this.shard.checkpoints().seek(SHARD, new Offset("1"), true);
		this.shard.worker().attend();
		this.shard.run();
		assertThat(this.shard.worker().isRestorable()).isFalse();

		this.shard.checkpoints().answerAll();
		this.shard.run();
		assertThat(this.shard.worker().isRestorable()).isTrue();
	}

	static final class Counter {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.increment("n", 1);
		}

	}

}
