package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import com.aliyun.openservices.log.common.auth.DefaultCredentials;
import com.aliyun.openservices.log.common.auth.StaticCredentialsProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.sls.SlsSettings;
import io.github.shardkeeper.sls.SlsShardSource;
import io.github.shardkeeper.sls.testsupport.SlsTestServer;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances as processes that read logs and are killed: each log has changed the state
 * once, in its order.
 */
@Tag("proof")
class KilledInstancesOnSlsTests {

	private static final int SHARDS = 4;

	private static final String GROUP = "killed-on-sls";

	@TempDir
	private Path directory;

	private final SlsTestServer server = new SlsTestServer();

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private RedisCheckpointStore checkpoints;

	private Instances instances;

	private SlsShardSource sender;

	private long sent;

	@BeforeEach
	void start() {
		this.server.allow("id", "secret");
		this.server.createLogstore(TracingInstance.TOPIC, SHARDS);
		this.redis = EmbeddedRedis.start();
		this.connections = RedisClients.factory(this.redis);
		this.checkpoints = new RedisCheckpointStore(new RedisConnector(this.connections), "shardkeeper", GROUP,
				Duration.ofSeconds(10));
		this.instances = new Instances((name) -> this.redis.port(), this.directory, GROUP, SHARDS);
		this.sender = new SlsShardSource(
				new SlsSettings(SlsTestServer.ENDPOINT, SlsTestServer.PROJECT,
						Map.of(TracingInstance.TOPIC,
								new SlsSettings.Logstore(TracingInstance.TOPIC, null, ResetPolicy.EARLIEST)),
						Duration.ofMillis(50), Duration.ofSeconds(1), 100, SHARDS, Duration.ofSeconds(10), null,
						this.server.proxy(), null),
				new StaticCredentialsProvider(new DefaultCredentials("id", "secret")));
	}

	@AfterEach
	void stop() {
		this.instances.close();
		this.sender.close();
		this.checkpoints.close();
		this.connections.destroy();
		this.redis.close();
		this.server.close();
	}

	@Test
	void everyLogIsCountedOnceWhenInstancesAreKilled() {
		startInstance("one");
		startInstance("two");
		sendUntilHandled(40);
		this.instances.kill("two");
		sendUntilHandled(40);
		startInstance("three");
		sendUntilHandled(40);
		this.instances.kill("one");
		sendUntilHandled(40);

		long sum = this.sent * (this.sent + 1) / 2;
		Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
			for (int shard = 0; shard < SHARDS; shard++) {
				assertThat(this.checkpoints.read(ShardId.of(TracingInstance.TOPIC, shard)).state())
					.as("shard %d", shard)
					.containsEntry("count", Long.toString(this.sent))
					.containsEntry("sum", Long.toString(sum));
			}
		});
	}

	private void startInstance(String name) {
		this.instances.start(name, "--shardkeeper.topics.numbers.source=sls",
				"--shardkeeper.sls.endpoint=" + SlsTestServer.ENDPOINT,
				"--shardkeeper.sls.project=" + SlsTestServer.PROJECT, "--shardkeeper.sls.proxy=" + this.server.proxy(),
				"--shardkeeper.sls.access-key-id=id", "--shardkeeper.sls.access-key-secret=secret",
				"--shardkeeper.sls.poll-interval=50ms", "--shardkeeper.session.lease=3s",
				"--shardkeeper.session.heartbeat-interval=200ms");
	}

	/** Sends the next numbers to every shard until that many more of each are handled. */
	private void sendUntilHandled(int more) {
		long target = this.sent + more;
		Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofMillis(20)).until(() -> {
			this.sent++;
			this.sender
				.append(IntStream.range(0, SHARDS)
					.mapToObj((shard) -> new NewRecord(ShardId.of(TracingInstance.TOPIC, shard), null,
							Long.toString(this.sent).getBytes()))
					.toList())
				.forEach(CompletableFuture::join);
			Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
			return lines.size() == SHARDS && lines.values()
				.stream()
				.allMatch((handled) -> handled.stream().mapToLong(Trace.Line::number).max().orElse(0) >= target);
		});
	}

}
