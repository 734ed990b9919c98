package io.github.shardkeeper.benchmarks.locks;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.function.IntFunction;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.RedisStreams;
import io.github.shardkeeper.cluster.ClusterLocks;

/**
 * Libraries with locks in Redis. A client returns the lock of a name, the same for all
 * clients of a library; it is thread-safe, and ends with the JVM.
 */
enum LockLibrary implements Contender {

	/** An application with the starter at its defaults and no topic. */
	SHARDKEEPER("Shardkeeper ClusterLock", true, LockLibrary::shardkeeper),

	REDISSON("Redisson RLock", true, (port) -> redisson(port)::getLock),

	REDISSON_FENCED("Redisson RFencedLock", true, (port) -> redisson(port)::getFencedLock),

	REGISTRY("RedisLockRegistry (pub-sub)", true, (port) -> registry(port, RedisLockType.PUB_SUB_LOCK)),

	SPINNING_REGISTRY("RedisLockRegistry (spin)", true, (port) -> registry(port, RedisLockType.SPIN_LOCK)),

	SHEDLOCK("ShedLock", false, LockLibrary::shedLock);

	/**
	 * Longer than any measurement: Spring Integration's and ShedLock's are not renewed.
	 */
	private static final Duration HELD_AT_MOST = Duration.ofMinutes(10);

	private final String text;

	private final boolean waits;

	private final IntFunction<Function<String, Lock>> opener;

	LockLibrary(String text, boolean waits, IntFunction<Function<String, Lock>> opener) {
		this.text = text;
		this.waits = waits;
		this.opener = opener;
	}

	@Override
	public String text() {
		return this.text;
	}

	/** Returns whether threads can wait for a lock. */
	boolean waits() {
		return this.waits;
	}

	/** Opens a client. */
	Function<String, Lock> open(int port) {
		return this.opener.apply(port);
	}

	private static Function<String, Lock> shardkeeper(int port) {
		return Applications
			.start(port, new Object(), Map.of("shardkeeper.store", "redis", "shardkeeper.group", "locks"))
			.getBean(ClusterLocks.class)::get;
	}

	private static RedissonClient redisson(int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	private static Function<String, Lock> registry(int port, RedisLockType type) {
		LettuceConnectionFactory factory = RedisStreams.connect(port, false, 0);
		RedisLockRegistry registry = new RedisLockRegistry(factory, type.name(), HELD_AT_MOST);
		registry.setRedisLockType(type);
		return registry::obtain;
	}

	private static Function<String, Lock> shedLock(int port) {
		LockProvider provider = new RedisLockProvider(RedisStreams.connect(port, false, 0));
		return (name) -> new ShedLock(provider, name);
	}

	/** A lock for one thread that nobody else holds. */
	private static final class ShedLock implements Lock {

		private final LockProvider provider;

		private final String name;

		private SimpleLock held;

		ShedLock(LockProvider provider, String name) {
			this.provider = provider;
			this.name = name;
		}

		@Override
		public void lock() {
			if (!tryLock()) {
				throw new IllegalStateException("Somebody holds " + this.name);
			}
		}

		@Override
		public void lockInterruptibly() {
			lock();
		}

		@Override
		public boolean tryLock() {
			this.held = this.provider.lock(new LockConfiguration(Instant.now(), this.name, HELD_AT_MOST, Duration.ZERO))
				.orElse(null);
			return this.held != null;
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) {
			return tryLock();
		}

		@Override
		public void unlock() {
			Objects.requireNonNull(this.held).unlock();
			this.held = null;
		}

		@Override
		public Condition newCondition() {
			throw new UnsupportedOperationException();
		}

	}

}
