package io.github.shardkeeper.worker;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Shards that come to their end.
 */
class CompletedShardTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final Application bean = new Application();

	@Test
	void shardIsCompletedOnceItsLastRecordIsCommitted() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		shard.deliver(1, 2);
		shard.checkpoints().holdAnswers();
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();
		assertThat(shard.checkpoint().offset()).as("does not wait for its time").isEqualTo(new Offset("2"));
		assertThat(shard.ended()).isEmpty();
		shard.checkpoints().answerAll();
		shard.run();

		assertThat(shard.ended()).containsExactly("completed");
		assertThat(this.bean.calls).isEqualTo(2);
	}

	@Test
	void shardAtItsEndIsCompletedByTheNextOwner() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();

		assertThat(shard.ended()).containsExactly("completed");
	}

	@Test
	void shardIsNotCompletedWhileTheRetryQueueHasRecords() {
		ConsumingShard shard = new ConsumingShard(this.bean,
				new TestSettings().maxAttempts(1).onFailure(OnFailure.RETRY_QUEUE, SECOND.multipliedBy(10)));
		this.bean.failing = true;
		shard.deliver(1, 1);
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();
		shard.pass(SECOND.multipliedBy(9));
		assertThat(shard.ended()).isEmpty();
		this.bean.failing = false;
		shard.pass(SECOND);

		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(shard.ended()).containsExactly("completed");
		assertThat(shard.retries()).isZero();
	}

	@Test
	void shardIsNotCompletedWhileARecordFails() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings());
		this.bean.failing = true;
		shard.deliver(1, 1);
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();
		assertThat(shard.ended()).isEmpty();
		this.bean.failing = false;
		shard.pass(SECOND);

		assertThat(shard.ended()).containsExactly("completed");
	}

	@Test
	void deadLetterSentBackBeforeTheEndKeepsTheShardOpen() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		this.bean.failing = true;
		shard.deliver(1, 1);
		this.bean.failing = false;
		shard.sendBackAll();
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();

		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(shard.ended()).containsExactly("completed");
		assertThat(shard.deadLetters()).isEmpty();
	}

	@Test
	void deadLetterSentBackWithoutNotificationKeepsTheShardOpen() {
		ConsumingShard shard = new ConsumingShard(this.bean, new TestSettings().maxAttempts(1));
		this.bean.failing = true;
		shard.deliver(1, 1);
		this.bean.failing = false;
		shard.sendBackUnnoticed();
		shard.reader().end(ConsumingShard.SHARD);
		shard.run();

		assertThat(this.bean.calls).isEqualTo(2);
		assertThat(shard.ended()).containsExactly("completed");
	}

	/** Bean of the application. */
	static final class Application {

		private int calls;

		private boolean failing;

		@ShardConsumer("orders")
		void handle(String payload) {
			this.calls++;
			if (this.failing) {
				throw new IllegalStateException("caused by the test");
			}
		}

	}

}
