package io.github.shardkeeper.benchmarks.locks;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every library has locks, and they are measured.
 */
class LocksBenchmarkTests {

	/** Ends with the JVM, like the clients. */
	private static EmbeddedRedis redis;

	@BeforeAll
	static void start() {
		redis = EmbeddedRedis.start();
	}

	@ParameterizedTest
	@EnumSource
	void lockIsHeldOnce(LockLibrary library) {
		Function<String, Lock> client = library.open(redis.port());
		Lock lock = client.apply("only");

		lock.lock();
		boolean another = CompletableFuture.supplyAsync(() -> client.apply("only").tryLock()).join();
		lock.unlock();

		assertThat(another).isFalse();
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	void locksAreMeasuredAloneAndContended() throws Exception {
		List<ChildProcess> both = LocksBenchmark.start(LockLibrary.REGISTRY, redis.port());
		try (RedisFigures figures = new RedisFigures(redis)) {
			Map<String, Double> alone = LocksBenchmark.uncontended(both.get(0), figures, 100);
			Map<String, Double> contended = LocksBenchmark.contended(both, 2, 2000);

			assertThat(alone.get(LocksBenchmark.PAIR)).isPositive();
			assertThat(contended.get(LocksBenchmark.HAND_OVER)).isPositive();
			assertThat(contended.get("acquisitions per second")).isPositive();
		}
		finally {
			both.forEach(ChildProcess::close);
		}
	}

}
