package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
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

	private final ReadPosition position = new ReadPosition(ShardId.of("orders", 0), new TopicPartition("orders", 0),
			new KafkaOffset(9, 3, null), this.sink, 1);

	@Test
	void workerIsMovedOverAGapOnceAndOnlyIfEverythingBeforeItIsCommitted() {
		this.position.moveOverGap();
		assertThat(this.sink.moves()).as("no gap").isEmpty();
		this.position.skipTo(new OffsetAndMetadata(12, Optional.of(4), ""));
		this.position.committed(8);
		this.position.moveOverGap();
		assertThat(this.sink.moves()).as("a record is not done").isEmpty();
		this.position.committed(9);
		this.position.moveOverGap();
		this.position.moveOverGap();

		assertThat(this.sink.moves()).containsExactly("after 11:4");
		assertThat(this.position.next()).isEqualTo(12);
	}

	/** To ask the leader about it takes as long as the fetch that is under way. */
	@Test
	void clientIsToldTheEpochLaterIfTheLeaderHasItStill() {
		this.position.verified(end(10, 3));
		assertThat(this.position.resumeAt()).isEqualTo(new OffsetAndMetadata(10));
		assertThat(this.position.mustTellEpoch()).isTrue();
		assertThat(this.position.resumeAt()).isEqualTo(new OffsetAndMetadata(10, Optional.of(3), ""));
		assertThat(this.position.mustTellEpoch()).isFalse();
	}

	@Test
	void clientAsksWhereTheEpochHasEndedIfTheLogMayHaveLostRecords() {
		for (ListOffsetsResultInfo end : List.of(end(9, 3), end(50, 4))) {
			this.position.verified(end);
			assertThat(this.position.resumeAt()).isEqualTo(new OffsetAndMetadata(10, Optional.of(3), ""));
			assertThat(this.position.invalidity()).isNull();
		}
	}

	@Test
	void epochThatNoLeaderHasReachedIsNotToldToTheClient() {
		this.position.verified(end(50, 2));

		assertThat(this.position.invalidity()).isNotNull();
	}

	private static ListOffsetsResultInfo end(long offset, int epoch) {
		return new ListOffsetsResultInfo(offset, -1, Optional.of(epoch));
	}

	@Test
	void stoppedShardIsNotMoved() {
		this.position.skipTo(new OffsetAndMetadata(12, Optional.of(4), ""));
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
