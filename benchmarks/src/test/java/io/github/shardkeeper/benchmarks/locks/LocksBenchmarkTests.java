package io.github.shardkeeper.benchmarks.locks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.benchmarks.locks.LocksBenchmark.Sizes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every contender has locks, and they are measured.
 */
class LocksBenchmarkTests {

	/** Ends with the JVM, like the clients. */
	private static RedisProcess redis;

	@BeforeAll
	static void start() throws Exception {
		redis = RedisProcess.start();
	}

	@ParameterizedTest
	@EnumSource
	void lockOfAContenderIsHeldOnce(Contender contender) {
		LockClient client = contender.open(redis.port());
		Lock lock = client.lock("only");

		lock.lock();
		boolean another = CompletableFuture.supplyAsync(() -> client.lock("only").tryLock()).join();
		lock.unlock();

		assertThat(another).isFalse();
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	void everyPartIsMeasured() throws Exception {
		List<String> raw = new ArrayList<>();
		List<String> parts = List.of(LocksBenchmark.UNCONTENDED, LocksBenchmark.CONTENDED, LocksBenchmark.IDLE);

		List<String> lines = LocksBenchmark.measure(List.of(Contender.REGISTRY),
				new Sizes(parts, 1, 0, 10, List.of(2), 3000, 2, 1), raw::add);

		assertThat(raw).hasSize(5).allMatch((line) -> line.split(",", -1).length == LocksBenchmark.COLUMNS.size());
		assertThat(lines).filteredOn((line) -> line.startsWith("| " + Contender.REGISTRY.text() + " | "))
			.hasSize(6)
			.noneMatch((line) -> line.contains("NaN"));
	}

}
