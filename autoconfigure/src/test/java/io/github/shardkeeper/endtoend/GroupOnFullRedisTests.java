package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Redis has no memory left and evicts nothing: sends are refused, but existing records
 * are consumed and committed, instances come and go, and trimming makes room again.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Automatic recovery")
class GroupOnFullRedisTests {

	private static final int SHARDS = 4;

	private static final int RECORDS_PER_SHARD = 400;

	private static final int RECORD_BYTES = 1000;

	/** A leap over what Redis' own buffers come and go with. */
	private static final long MISSING_BYTES = 200_000;

	private static final Duration LEASE = Duration.ofMillis(1500);

	private static final Pattern USED = Pattern.compile("used_memory:(\\d+)");

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@TempDir
	private Path directory;

	private TracedGroup group;

	private Feeder feeder;

	@AfterEach
	void stop() {
		this.feeder.close();
		this.group.close();
		this.redis.close();
	}

	@Test
	void consumptionContinuesAndTrimmingFreesMemory() {
		this.group = TracedGroup.on(this.redis, this.directory, "full", SHARDS,
				"--shardkeeper.session.lease=" + LEASE.toMillis() + "ms", "--shardkeeper.session.timeout=4s",
				"--shardkeeper.session.heartbeat-interval=200ms");
		this.feeder = new Feeder(this.group.connector(), TracingInstance.TOPIC, SHARDS, Duration.ofMillis(5), 1,
				Duration.ofSeconds(1), RECORD_BYTES);
		this.group.start("one", "two");
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> this.feeder.sent() >= RECORDS_PER_SHARD);
		this.group.awaitHealthy(this.feeder);

		limitMemory();
		assertThatExceptionOfType(RedisCommandExecutionException.class)
			.isThrownBy(() -> this.redis.call((commands) -> commands.xadd("another-stream", Map.of("k", "v"))))
			.withMessageContaining("OOM");
		long full = this.feeder.sent();
		Duration consuming = this.group.awaitHealthy(this.feeder);
		// One that is slow for a moment may be suspended once; refused heartbeats would
		// do it again and again.
		Awaitility.await().atMost(LEASE.multipliedBy(20)).until(() -> {
			int before = suspensions();
			pause(LEASE.multipliedBy(2));
			return suspensions() == before;
		});
		this.group.start("three");
		Duration joined = this.group.awaitHealthy(this.feeder);
		this.group.die("three");
		Duration died = this.group.awaitHealthy(this.feeder);
		this.group.rollingRestart("--shardkeeper.topics." + TracingInstance.TOPIC + ".trim.max-length=100");
		Duration restarted = this.group.awaitHealthy(this.feeder);
		Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> this.feeder.sent() > full + 100);

		this.group.awaitHealthy(this.feeder);
		this.group.checkExact(this.feeder.stopAll());
		System.out.printf(
				"Redis full: healthy after %d ms; when somebody joined %d ms, died %d ms; after a rolling "
						+ "restart %d ms%n",
				consuming.toMillis(), joined.toMillis(), died.toMillis(), restarted.toMillis());
	}

	private int suspensions() {
		return this.group.names().stream().mapToInt(this.group::suspensions).sum();
	}

	private void limitMemory() {
		Matcher used = USED.matcher(this.redis.call((commands) -> commands.info("memory")));
		assertThat(used.find()).isTrue();
		String limit = Long.toString(Long.parseLong(used.group(1)) - MISSING_BYTES);
		this.redis.call((commands) -> commands.configSet("maxmemory-policy", "noeviction"));
		this.redis.call((commands) -> commands.configSet("maxmemory", limit));
	}

	private static void pause(Duration length) {
		Awaitility.await().pollDelay(length).atMost(length.multipliedBy(10)).until(() -> true);
	}

}
