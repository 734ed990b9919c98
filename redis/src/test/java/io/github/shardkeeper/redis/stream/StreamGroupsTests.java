package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.GroupPositions.Position;

import static org.assertj.core.api.Assertions.assertThat;

/** Consumer groups of Redis that another application has left, or has not. */
@OnEveryRedis
class StreamGroupsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final String GROUP = "booking";

	private final String stream = "stream-" + UUID.randomUUID();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Test
	void positionIsAfterTheLastEntryIfAllAreAcknowledged() {
		append("1-1", "2-1", "3-1");
		createGroup("0");
		read(2);
		this.redis.opsForStream().acknowledge(this.stream, GROUP, "1-1", "2-1");

		assertThat(positions(Duration.ZERO)).isEqualTo(Position.after(new Offset("2-1")));
	}

	@Test
	void positionIsBeforeTheFirstEntryThatIsNotAcknowledged() {
		append("1-1", "2-1", "3-1");
		createGroup("0");
		read(3);
		this.redis.opsForStream().acknowledge(this.stream, GROUP, "1-1", "3-1");

		assertThat(positions(Duration.ZERO)).isEqualTo(Position.after(new Offset("2-0")));
	}

	/** What it has not acknowledged comes after that. */
	@Test
	void groupThatWasSetBackBeginsThere() {
		append("1-1", "2-1", "3-1");
		createGroup("0");
		read(3);
		this.redis.opsForStream().acknowledge(this.stream, GROUP, "1-1", "2-1");
		this.redis.execute((connection) -> connection.execute("XGROUP", bytes("SETID"), bytes(this.stream),
				bytes(GROUP), bytes("1-1")), true);

		assertThat(positions(Duration.ZERO)).isEqualTo(Position.after(new Offset("1-1")));
	}

	@Test
	void groupThatHasReadNothingBeginsWhereItWasCreated() {
		append("1-1", "2-1");
		createGroup("1-1");

		assertThat(positions(StreamGroups.ALIVE)).isEqualTo(Position.after(new Offset("1-1")));
	}

	@Test
	void consumerThatHasJustReadIsAnObstacleUntilItIsGone() {
		append("1-1");
		createGroup("0");
		read(1);
		this.redis.opsForStream().acknowledge(this.stream, GROUP, "1-1");

		Position position = positions(Duration.ofDays(1));
		assertThat(position.before()).isEqualTo(new Offset("1-1"));
		assertThat(position.obstacle()).contains("'" + GROUP + "'", this.stream, "(worker-1)", "Stop the application");
		this.redis.opsForStream().deleteConsumer(this.stream, Consumer.from(GROUP, "worker-1"));
		assertThat(positions(Duration.ofDays(1))).isEqualTo(Position.after(new Offset("1-1")));
	}

	@Test
	void streamWithoutTheGroupIsAnObstacle() {
		append("1-1");
		assertThat(positions(StreamGroups.ALIVE)).satisfies((position) -> {
			assertThat(position.before()).isNull();
			assertThat(position.obstacle())
				.contains("The stream '" + this.stream + "' has no consumer group '" + GROUP + "'", "XGROUP CREATE");
		});
	}

	@Test
	void shardWithoutAStreamBeginsWithItsFirstRecord() {
		assertThat(positions(StreamGroups.ALIVE)).isEqualTo(Position.after(new Offset("0-0")));
	}

	@Test
	void sourceReadsTheGroupsOfItsStreams() {
		String prefix = "prefix-" + UUID.randomUUID();
		try (RedisStreamSource source = new RedisStreamSource(RedisClients.sharedConnector(), prefix,
				Map.of("orders", 1), Duration.ofSeconds(60))) {
			this.redis.opsForStream()
				.add(MapRecord.create(prefix + ":{orders#0}:stream:0", Map.of("v", "r1")).withId(RecordId.of("5-1")));
			this.redis.opsForStream().createGroup(prefix + ":{orders#0}:stream:0", ReadOffset.from("5-1"), GROUP);

			assertThat(source.positions(GROUP, List.of(SHARD)))
				.containsOnly(Map.entry(SHARD, Position.after(new Offset("5-1"))));
		}
	}

	private Position positions(Duration alive) {
		return new StreamGroups(RedisClients.sharedConnector().dataLink(Duration.ofSeconds(60)), (shard) -> this.stream,
				alive)
			.positions(GROUP, List.of(SHARD))
			.get(SHARD);
	}

	private void append(String... ids) {
		for (String id : ids) {
			this.redis.opsForStream().add(MapRecord.create(this.stream, Map.of("v", id)).withId(RecordId.of(id)));
		}
	}

	private void createGroup(String after) {
		this.redis.opsForStream().createGroup(this.stream, ReadOffset.from(after), GROUP);
	}

	@SuppressWarnings("unchecked")
	private void read(int entries) {
		assertThat(this.redis.opsForStream()
			.read(Consumer.from(GROUP, "worker-1"), StreamReadOptions.empty().count(entries),
					StreamOffset.create(this.stream, ReadOffset.lastConsumed())))
			.hasSize(entries);
	}

	private static byte[] bytes(String text) {
		return text.getBytes();
	}

}
