package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.codec.RedisCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Duration of attempts to wake a read that Redis does not know, which no client here ever
 * begins.
 */
class ReadWakeUpTests {

	private static final long NOBODY = 987_654_321;

	private static final RedisCodec<String, byte[]> CODEC = RedisStreamSource.CODEC;

	private final AtomicLong nanos = new AtomicLong(1);

	private final Semaphore retries = new Semaphore(0);

	private final Semaphore ends = new Semaphore(0);

	private final Queue<Boolean> permissions = new ConcurrentLinkedQueue<>();

	private EmbeddedRedis redis;

	private LettuceConnectionFactory connections;

	private RedisConnector connector;

	private RedisLink<byte[]> link;

	private ReadWakeUp wakeUp;

	@BeforeEach
	void connect() {
		this.redis = EmbeddedRedis.start();
		this.connections = RedisClients.factory(this.redis);
		this.connector = new RedisConnector(this.connections);
		this.link = new RedisLink<>(this.connector, CODEC, Duration.ofSeconds(30));
		this.wakeUp = new ReadWakeUp(this.link, NOBODY, this.nanos::get, this.retries::release, this.ends::release,
				this.permissions::add);
	}

	@AfterEach
	void close() {
		this.link.close();
		this.connector.stop();
		this.connections.destroy();
		this.redis.close();
	}

	@Test
	void wakeUpIsSentOnlyOnRequest() {
		this.wakeUp.sendIfWanted();

		awaitAnswers();
		assertThat(this.retries.availablePermits()).isZero();
	}

	@Test
	void wakeUpIsRetriedUntilItsTimeIsOver() throws InterruptedException {
		this.wakeUp.request();
		this.wakeUp.sendIfWanted();
		assertThat(this.retries.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
		this.wakeUp.sendIfWanted();
		assertThat(this.retries.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
		assertThat(this.ends.availablePermits()).isZero();

		this.nanos.addAndGet(Duration.ofMillis(101).toNanos());
		this.wakeUp.sendIfWanted();

		assertThat(this.ends.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
		assertThat(this.retries.availablePermits()).as("it is not retried at once").isZero();
		assertThat(this.wakeUp.isPending()).as("but with the next poll").isTrue();
		assertThat(this.permissions).as("Redis refuses none of them").hasSize(3).containsOnly(true);
		this.wakeUp.sendIfWanted();
		assertThat(this.ends.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void readIsOverdueSomeTimeAfterTheFirstAttempt() {
		Duration limit = Duration.ofSeconds(5);
		this.nanos.addAndGet(Duration.ofMinutes(1).toNanos());
		assertThat(this.wakeUp.isOverdue(limit)).as("not before").isFalse();
		this.wakeUp.request();
		this.wakeUp.sendIfWanted();
		assertThat(this.wakeUp.isOverdue(limit)).isFalse();

		this.nanos.addAndGet(limit.toNanos() + 1);

		assertThat(this.wakeUp.isOverdue(limit)).isTrue();
	}

	@Test
	void lateAnswerDoesNotEndTheRetries() throws InterruptedException {
		// So that a connection is there before Redis does not reply any more.
		awaitAnswers();
		this.redis.freeze();
		this.wakeUp.request();
		this.wakeUp.sendIfWanted();
		this.nanos.addAndGet(Duration.ofMillis(500).toNanos());

		this.redis.thaw();

		assertThat(this.retries.tryAcquire(10, TimeUnit.SECONDS)).as("is to be sent again").isTrue();
		assertThat(this.ends.availablePermits()).isZero();
	}

	/** Earlier replies have arrived then, because replies come in order. */
	private void awaitAnswers() {
		this.link.call((commands) -> commands.ping());
	}

}
