package io.github.shardkeeper.sample.feed;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import redis.embedded.RedisServer;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.ShardAssignedEvent;
import io.github.shardkeeper.ShardRevokedEvent;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.sample.AccessLine;
import io.github.shardkeeper.sample.FreePorts;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@DisabledOnOs(OS.WINDOWS)
class FeederTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final int LINES = 300;

	private static final MemberId MEMBER = MemberId.of("host-1", "session1");

	private final Recorder sent = new Recorder();

	private RedisServer redis;

	private LettuceConnectionFactory connectionFactory;

	private FeedProgress progress;

	@BeforeEach
	void startRedis() throws IOException {
		int port = FreePorts.next();
		this.redis = RedisServer.newRedisServer().port(port).setting("save \"\"").build();
		this.redis.start();
		this.connectionFactory = new LettuceConnectionFactory("127.0.0.1", port);
		this.connectionFactory.start();
		this.progress = new FeedProgress(new StringRedisTemplate(this.connectionFactory));
	}

	@AfterEach
	void stopRedis() throws IOException {
		this.connectionFactory.destroy();
		this.redis.stop();
	}

	@Test
	void feedsAllLinesOnceInOrder() {
		Feeder feeder = ownerOfFirstShard();
		feeder.start();
		await().atMost(PATIENCE).until(() -> this.progress.next("generated") == LINES);
		feeder.stop();
		assertThat(feeder.isRunning()).isFalse();
		assertThat(this.sent.numbers).containsExactlyElementsOf(LongStream.range(0, LINES).boxed().toList());
	}

	@Test
	void nextOwnerResumesAtTheProgress() {
		Feeder first = ownerOfFirstShard();
		first.start();
		await().atMost(PATIENCE).until(() -> !this.sent.numbers.isEmpty());
		first.stop();
		Feeder second = ownerOfFirstShard();
		second.start();
		await().atMost(PATIENCE).until(() -> this.progress.next("generated") == LINES);
		second.stop();
		assertThat(this.sent.numbers).containsExactlyElementsOf(LongStream.range(0, LINES).boxed().toList());
	}

	@Test
	void newOwnerReadsTheProgress() {
		Feeder feeder = feeder();
		feeder.start();
		feeder.assigned(assigned(1, 7));
		this.progress.next("generated", 250);
		feeder.assigned(assigned(0, 8));
		await().atMost(PATIENCE).until(() -> this.progress.next("generated") == LINES);
		feeder.stop();
		assertThat(this.sent.numbers).containsExactlyElementsOf(LongStream.range(250, LINES).boxed().toList());
	}

	@Test
	void failedChunkIsSentAgain() {
		this.sent.failOnce.set(true);
		Feeder feeder = ownerOfFirstShard();
		feeder.start();
		await().atMost(PATIENCE).until(() -> this.progress.next("generated") == LINES);
		feeder.stop();
		assertThat(this.sent.failOnce).isFalse();
		assertThat(this.sent.numbers).containsExactlyElementsOf(LongStream.range(0, LINES).boxed().toList());
	}

	@Test
	void feedsOnlyWhileItOwnsTheFirstShard() {
		Feeder feeder = feeder();
		assertThat(feeder.ownsFirstShard()).isFalse();
		feeder.assigned(assigned(1, 7));
		assertThat(feeder.ownsFirstShard()).isFalse();
		feeder.assigned(assigned(0, 8));
		feeder.revoked(revoked(1, 7));
		assertThat(feeder.ownsFirstShard()).isTrue();
		feeder.revoked(revoked(0, 8));
		assertThat(feeder.ownsFirstShard()).isFalse();
	}

	@Test
	void linesOfTwoSourcesDoNotMix() {
		this.progress.claim("generated");
		this.progress.claim("generated");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.progress.claim("/var/log/access.log"))
			.withMessageContaining("'generated'")
			.withMessageContaining("'/var/log/access.log'")
			.withMessageContaining("--sample.redis.port=6380");
	}

	@Test
	void startsOnARedisThatIsFull() {
		this.progress.claim("generated");
		try (RedisConnection connection = this.connectionFactory.getConnection()) {
			connection.serverCommands().setConfig("maxmemory", "1");
		}
		Feeder feeder = feeder();
		feeder.start();
		assertThat(feeder.isRunning()).isTrue();
		feeder.stop();
	}

	private Feeder feeder() {
		FeedProperties properties = new FeedProperties(null, 1000, (long) LINES);
		return new Feeder(new GeneratedLines(LINES), this.progress, this.sent, properties);
	}

	private Feeder ownerOfFirstShard() {
		Feeder feeder = feeder();
		feeder.assigned(assigned(0, 7));
		return feeder;
	}

	private static ShardAssignedEvent assigned(int shard, long token) {
		return new ShardAssignedEvent("visits-sample", MEMBER, ShardId.of("visits", shard), new Token(token));
	}

	private static ShardRevokedEvent revoked(int shard, long token) {
		return new ShardRevokedEvent("visits-sample", MEMBER, ShardId.of("visits", shard), new Token(token), false);
	}

	/** Records the numbers of the lines that were sent. */
	private static final class Recorder implements ShardTemplate {

		private final List<Long> numbers = new CopyOnWriteArrayList<>();

		private final AtomicBoolean failOnce = new AtomicBoolean();

		@Override
		public List<Appended> sendAll(String topic, Collection<Outgoing> records) {
			assertThat(topic).isEqualTo("visits");
			if (this.failOnce.compareAndSet(true, false)) {
				throw new IllegalStateException("Redis is away");
			}
			for (Outgoing outgoing : records) {
				AccessLine line = (AccessLine) outgoing.payload();
				assertThat(outgoing.key()).isEqualTo(line.client());
				this.numbers.add(line.number());
			}
			return records.stream().map((record) -> new Appended(ShardId.of(topic, 0), new Offset("1-0"))).toList();
		}

		@Override
		public CompletableFuture<Appended> sendAsync(String topic, Outgoing outgoing) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void flush() {
			throw new UnsupportedOperationException();
		}

		@Override
		public ShardTemplate with(ShardSelector selector) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ShardId shardFor(String topic, String key) {
			throw new UnsupportedOperationException();
		}

	}

}
