package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.consumer.ExitOnSessionLoss;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that wants no call to outlive its lease, as a process of its own.
 */
@RunAlone
class ExitOnSessionLossTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	@TempDir
	Path directory;

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private Instances instances;

	private Feeder feeder;

	@BeforeEach
	void start() {
		this.redis = EmbeddedRedis.start();
		this.connections = RedisClients.factory(this.redis);
		this.instances = new Instances((name) -> this.redis.port(), this.directory, "exit-tests", 2);
		this.feeder = new Feeder(new RedisConnector(this.connections), 2, Duration.ofMillis(50), 1);
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.instances.close();
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void processEndsWithLeaseAndHandlersStop() throws IOException {
		this.instances.start("one", "--shardkeeper.session.on-loss=exit", "--shardkeeper.session.lease=" + LEASE,
				"--shardkeeper.session.heartbeat-interval=100ms", "--trace.work=40ms");
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> Trace.read(this.directory).lines().size() > 20);
		this.redis.freeze();
		long frozen = Trace.nowMicros();

		assertThat(this.instances.awaitExitCode("one")).isEqualTo(ExitOnSessionLoss.EXIT_CODE).isEqualTo(75);
		long ended = Trace.nowMicros();
		assertThat(Duration.of(ended - frozen, TimeUnit.MICROSECONDS.toChronoUnit())).isBetween(LEASE.dividedBy(2),
				LEASE.plusSeconds(2));
		assertThat(Files.readString(this.directory.resolve("one.log")))
			.contains("has ended; ending the process with code 75, because of 'shardkeeper.session.on-loss'");
		assertThat(Trace.read(this.directory).interrupted()).as("no revocation callback had time to run").isEmpty();
		assertThat(Trace.read(this.directory).lines())
			.allSatisfy((line) -> assertThat(line.endMicros()).isLessThanOrEqualTo(frozen + LEASE.toNanos() / 1000));
	}

}
