package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.FaultyCheckpoints;
import io.github.shardkeeper.worker.TestReader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class StartPositionsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", 2));

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints();

	private final TestReader reader = new TestReader();

	private MonotonicTime now = new MonotonicTime(0);

	@Test
	void shardsWithoutAPositionStartWithTheFirstRecord() {
		append(3);

		start(positions(Map.of()), null);
		start(positions(Map.of("others", StartPosition.LATEST)), null);

		assertThat(this.reader.calls()).containsExactly("start after null", "start after null");
	}

	@Test
	void shardWithACheckpointResumesThere() {
		start(positions(Map.of("orders", StartPosition.LATEST)), new Offset("1"));
		start(positions(Map.of("orders", StartPosition.from(new Offset("5")))), new Offset("1"));

		assertThat(this.reader.calls()).containsExactly("start after 1", "start after 1");
	}

	@Test
	void startOffsetIsTheFirstRecord() {
		start(positions(Map.of("orders", StartPosition.from(new Offset("5")))), null);

		assertThat(this.reader.calls()).containsExactly("start after 4");
	}

	@Test
	void startTimeIncludesItsRecords() {
		append(3);

		start(positions(Map.of("orders", StartPosition.at(Instant.EPOCH))), null);
		start(positions(Map.of("orders", StartPosition.at(Instant.now().plusSeconds(60)))), null);

		assertThat(this.reader.calls()).containsExactly("start after 0", "start after 3");
	}

	@Test
	void latestIsTheTimeOfTheFirstConsumption() {
		append(3);
		Instant appended = Instant.now();
		StartPositions first = positions(Map.of("orders", StartPosition.LATEST));
		// Until the records are of an earlier millisecond.
		await().until(() -> Instant.now().toEpochMilli() > appended.toEpochMilli());
		first.consume(List.of("orders"));
		append(2);
		start(first, null);

		append(2);
		start(first, null);
		start(positions(Map.of("orders", StartPosition.LATEST)), null);

		assertThat(this.reader.calls()).as("also for another instance, later").containsOnly("start after 3");
	}

	@Test
	@Promise("Nothing lost")
	void knownTimeOfTheFirstConsumptionIsRestoredInTheStore() {
		StartPositions first = positions(Map.of("orders", StartPosition.LATEST));
		first.consume(List.of("orders"));
		Instant began = this.checkpoints.consumedSince("orders");
		this.checkpoints.empty();
		await().until(() -> Instant.now().toEpochMilli() > began.toEpochMilli());
		append(2);
		Instant appended = Instant.now();
		await().until(() -> Instant.now().toEpochMilli() > appended.toEpochMilli());
		StartPositions later = positions(Map.of("orders", StartPosition.LATEST));
		later.consume(List.of("orders"));

		first.consume(List.of("orders", "others"));
		assertThat(this.checkpoints.consumedSince("orders")).isEqualTo(began);
		this.now = this.now.plus(Duration.ofSeconds(1));
		start(later, null);
		assertThat(this.reader.calls()).as("what came since the group began").containsExactly("start after 0");
	}

	@Test
	void unavailableStoreIsAskedAgain() {
		StartPositions positions = positions(Map.of("orders", StartPosition.LATEST));
		this.checkpoints.setAway(true);

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> positions.consume(List.of("orders")));
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> start(positions, null));
		this.checkpoints.setAway(false);
		start(positions, null);

		assertThat(this.reader.calls()).containsExactly("start after 0");
	}

	@Test
	void invalidOffsetFailsStartup() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> positions(Map.of("orders", StartPosition.parse("earlist"))))
			.withMessageContaining("'shardkeeper.topics.orders.start' is 'earlist'")
			.withMessageContaining("Set it to 'earliest'");
	}

	@Test
	void consumerGroupOfASourceWithoutAnyFailsStartup() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> positions(Map.of("orders", StartPosition.group("booking"))))
			.withMessageContaining("'shardkeeper.topics.orders.start' is 'group:booking'")
			.withMessageContaining("has no consumer groups")
			.withMessageContaining("Set it to 'earliest'");
	}

	private StartPositions positions(Map<String, StartPosition> positions) {
		return new StartPositions(SourceRegistry.of(this.source), this.checkpoints, positions, () -> this.now);
	}

	private void start(StartPositions positions, Offset after) {
		Position position = positions.resolve("orders", List.of(SHARD)).get(SHARD);
		Offset start = (position != null) ? position.before() : null;
		this.reader.start(SHARD, (after != null) ? after : start, (records) -> true);
	}

	private void append(int records) {
		for (int i = 0; i < records; i++) {
			this.source.append(List.of(new NewRecord(SHARD, "key", new byte[0])));
		}
	}

}
