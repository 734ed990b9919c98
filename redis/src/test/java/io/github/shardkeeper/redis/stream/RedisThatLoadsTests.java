package io.github.shardkeeper.redis.stream;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.testsupport.Appends;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis that reads its data from disk accepts connections and refuses commands: that
 * says nothing about a stream.
 */
@Tag("proof")
class RedisThatLoadsTests {

	/** Times the delay: how long Redis loads, about. */
	private static final int RECORDS = 10_000;

	private static final String DELAY_MICROS_PER_RECORD = "200";

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final BlockingQueue<SourceRecord> records = new LinkedBlockingQueue<>();

	private final Set<String> failures = ConcurrentHashMap.newKeySet();

	private final CountDownLatch over = new CountDownLatch(1);

	private final List<Map<ShardId, String>> problems = Collections.synchronizedList(new ArrayList<>());

	@Test
	void noStreamIsLeftOutBecauseOfIt(@TempDir Path directory) throws InterruptedException {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir",
				directory.toString(), "--key-load-delay", DELAY_MICROS_PER_RECORD)) {
			LettuceConnectionFactory connections = RedisClients.factory(redis);
			try (RedisStreamSource source = new RedisStreamSource(new RedisConnector(connections), "loads",
					Map.of("orders", 1), Duration.ofSeconds(10)); ShardReader reader = source.openReader()) {
				Thread poller = new Thread(() -> pollOn(reader));
				poller.start();
				try {
					restartWhileItIsRead(redis, source, reader);
				}
				finally {
					this.over.countDown();
					poller.interrupt();
					poller.join();
				}
			}
			finally {
				connections.destroy();
			}
		}
		assertThat(this.failures).as("it was seen while it loaded").anyMatch((message) -> message.contains("LOADING"));
		assertThat(this.problems).isEmpty();
	}

	private void restartWhileItIsRead(EmbeddedRedis redis, RedisStreamSource source, ShardReader reader)
			throws InterruptedException {
		reader.start(SHARD, null, this.records::addAll);
		append(source, RECORDS);
		for (int i = 0; i < RECORDS; i++) {
			assertThat(this.records.poll(10, TimeUnit.SECONDS)).isNotNull();
		}
		redis.kill();
		redis.restart();
		append(source, 1);
		assertThat(this.records.poll(1, TimeUnit.SECONDS)).as("the record after the restart").isNotNull();
	}

	private static void append(RedisStreamSource source, int count) {
		Appends.append(source,
				Collections.nCopies(count, new NewRecord(SHARD, "k", "v".getBytes(StandardCharsets.UTF_8))));
	}

	/** Polls as the runner does, with a pause after a failure. */
	private void pollOn(ShardReader reader) {
		try {
			while (true) {
				try {
					reader.poll();
				}
				catch (StoreUnavailableException ex) {
					this.failures.add(ex.getMessage());
					if (this.over.await(20, TimeUnit.MILLISECONDS)) {
						return;
					}
				}
				Map<ShardId, String> found = reader.problems();
				if (!found.isEmpty()) {
					this.problems.add(found);
				}
			}
		}
		catch (InterruptedException ex) {
			// The test is over.
		}
	}

}
