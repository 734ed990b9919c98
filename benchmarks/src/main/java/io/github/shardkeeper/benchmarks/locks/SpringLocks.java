package io.github.shardkeeper.benchmarks.locks;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * Locks on Spring Data Redis: those of Spring Integration and of ShedLock. Has no state.
 */
final class SpringLocks {

	/** Longer than any measurement: neither is renewed by default. */
	private static final Duration HELD_AT_MOST = Duration.ofMinutes(10);

	private SpringLocks() {
	}

	private static LettuceConnectionFactory connect(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", port);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	static LockClient registry(int port, RedisLockType type) {
		RedisLockRegistry registry = new RedisLockRegistry(connect(port), type.name(), HELD_AT_MOST);
		registry.setRedisLockType(type);
		return registry::obtain;
	}

	static LockClient shedLock(int port) {
		LockProvider provider = new RedisLockProvider(connect(port));
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
