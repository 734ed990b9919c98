package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.sls.testsupport.SlsTestServer.Fault;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.ResetPolicy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** SLS consumer groups that another application has left, or has not. */
class ConsumerGroupCheckpointsTests {

	private static final ShardId ZERO = ShardId.of("visits", 0);

	private static final ShardId ONE = ShardId.of("visits", 1);

	private static final String GROUP = "shop-visits";

	private final SlsTestServer server = new SlsTestServer();

	private final TestSource source = new TestSource(this.server).topic("visits", "access", null, ResetPolicy.EARLIEST);

	private final SlsClient client = new SlsClient(this.source.settings(), TestSource.credentials());

	private final AtomicLong millis = new AtomicLong(System.currentTimeMillis());

	private final ConsumerGroupCheckpoints checkpoints = new ConsumerGroupCheckpoints(this.client, this.millis::get);

	ConsumerGroupCheckpointsTests() {
		this.server.createLogstore("access", 2);
	}

	@AfterEach
	void close() {
		this.client.close();
		this.server.close();
	}

	@Test
	void positionIsTheCheckpointOfTheGroup() {
		String cursor = this.client.end(ZERO);
		write(ZERO, cursor);
		this.millis.addAndGet(Duration.ofDays(1).toMillis());

		assertThat(this.checkpoints.positions(GROUP, List.of(ZERO)))
			.containsOnly(Map.entry(ZERO, Position.after(new Offset(cursor))));
	}

	/** It has handled none of its logs, as far as SLS knows. */
	@Test
	void shardWithoutACheckpointBeginsWithItsFirstLog() {
		write(ZERO, this.client.end(ZERO));
		Position begin = Position.after(SlsOffset.BEGIN.toOffset());
		assertThat(this.checkpoints.positions(GROUP, List.of(ONE))).containsOnly(Map.entry(ONE, begin));

		this.server.addCheckpointWithoutCursor("access", GROUP, 1);
		assertThat(this.checkpoints.positions(GROUP, List.of(ONE))).containsOnly(Map.entry(ONE, begin));
	}

	@Test
	void groupWithoutACheckpointIsAnObstacle() {
		assertThat(this.checkpoints.positions(GROUP, List.of(ZERO)).get(ZERO)).satisfies((position) -> {
			assertThat(position.before()).isNull();
			assertThat(position.obstacle()).contains(
					"consumer group '" + GROUP + "' has no checkpoint in the logstore 'access'",
					"'shardkeeper.topics.visits.start'");
		});
		this.client.createConsumerGroup("visits", GROUP);
		assertThat(this.checkpoints.positions(GROUP, List.of(ZERO)).get(ZERO).obstacle()).contains("no checkpoint");
	}

	@Test
	void freshCheckpointIsAnObstacleOfItsShardUntilItIsOlder() {
		write(ZERO, this.client.end(ZERO));
		this.millis.set(System.currentTimeMillis());

		Map<ShardId, Position> positions = this.checkpoints.positions(GROUP, List.of(ZERO, ONE));
		assertThat(positions.get(ZERO).before()).isNotNull();
		assertThat(positions.get(ZERO).obstacle()).contains("'" + GROUP + "'", "visits/0", "(consumer-1)",
				"Stop the application");
		assertThat(positions.get(ONE).obstacle()).isNull();
		this.millis.addAndGet(ConsumerGroupCheckpoints.SETTLED.toMillis());
		assertThat(this.checkpoints.positions(GROUP, List.of(ZERO)).get(ZERO).obstacle()).isNull();
	}

	@Test
	void otherFailureIsThrown() {
		try (SlsShardSource opened = this.source.open();
				Fault fault = this.server.fail((call) -> call.operation().equals("GetCheckpoint"), 500,
						"InternalServerError", "try again")) {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> opened.positions(GROUP, List.of(ZERO)))
				.withMessageContaining("read the checkpoints of the consumer group '" + GROUP + "' of 'access'");
			assertThat(fault.hits()).isPositive();
		}
	}

	/** Creates the group if necessary. */
	private void write(ShardId shard, String cursor) {
		this.client.createConsumerGroup(shard.topic(), GROUP);
		this.client.updateCheckpoint(shard, GROUP, cursor);
	}

}
