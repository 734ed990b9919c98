package io.github.shardkeeper.kafka;

import java.time.Duration;

import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Gaps in offsets, and pauses after failures.
 */
class ReadPositionTests {

	private final RecordingSink sink = new RecordingSink(true);

	private final ReadPosition position = new ReadPosition(ShardId.of("orders", 0), new TopicPartition("orders", 0), 9,
			this.sink, 1);

	@Test
	void workerIsMovedOverAGapOnceAndOnlyIfEverythingBeforeItIsCommitted() {
		this.position.moveOverGap();
		assertThat(this.sink.moves()).as("no gap").isEmpty();
		this.position.skipTo(12);
		this.position.committed(8);
		this.position.moveOverGap();
		assertThat(this.sink.moves()).as("a record is not done").isEmpty();
		this.position.committed(9);
		this.position.moveOverGap();
		this.position.moveOverGap();

		assertThat(this.sink.moves()).containsExactly("after 11");
		assertThat(this.position.next()).isEqualTo(12);
	}

	@Test
	void stoppedShardIsNotMoved() {
		this.position.skipTo(12);
		this.position.stop();
		this.position.moveOverGap();

		assertThat(this.sink.moves()).isEmpty();
	}

	@Test
	void pausesBeginAnewAfterALongTimeWithoutAFailure() {
		MonotonicTime now = MonotonicClock.SYSTEM.now();
		assertThat(this.position.retryLater("away", now)).as("logged").isTrue();
		assertThat(this.position.retryLater("away", now.plus(Duration.ofSeconds(2)))).as("logged").isFalse();
		MonotonicTime later = now.plus(Duration.ofHours(1));

		assertThat(this.position.retryLater("away", later)).as("logged").isTrue();
		assertThat(this.position.retryAt()).isEqualTo(later.plus(Duration.ofSeconds(1)));
	}

}
