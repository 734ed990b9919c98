package io.github.shardkeeper.worker.progress;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;

class FailedRecordsInCommitsTests {

	private final FailedRecord record = FailedRecord.of(new Offset("7"), null, new byte[0], Map.of(), Instant.EPOCH, 1,
			1, new IllegalStateException("caused by the test"), Instant.EPOCH);

	/** It may have been fetched before the reply, and is open then. */
	@Test
	void recordThatEntersTheRetryQueueForTheFirstTimeIsNoChangeOfIt() {
		FailedRecords.Changes first = new FailedRecords.Changes();
		first.put(this.record, Duration.ZERO, false);
		assertThat(first.changedInQueue()).isEmpty();

		FailedRecords.Changes again = new FailedRecords.Changes();
		again.put(this.record, Duration.ZERO, true);
		assertThat(again.changedInQueue()).containsExactly(this.record.offset());
		assertThat(first.after(again).changedInQueue()).containsExactly(this.record.offset());
	}

}
