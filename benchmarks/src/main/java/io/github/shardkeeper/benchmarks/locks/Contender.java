package io.github.shardkeeper.benchmarks.locks;

import java.io.IOException;
import java.util.function.IntFunction;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * Locks of a library, each client in a process of its own.
 */
enum Contender {

	SHARDKEEPER("Shardkeeper ClusterLock", true, ShardkeeperLocks::open),

	REDISSON("Redisson RLock", true, (port) -> redisson(port)::getLock),

	REDISSON_FENCED("Redisson RFencedLock", true, (port) -> redisson(port)::getFencedLock),

	REGISTRY("RedisLockRegistry (pub-sub)", true, (port) -> SpringLocks.registry(port, RedisLockType.PUB_SUB_LOCK)),

	SPINNING_REGISTRY("RedisLockRegistry (spin)", true, (port) -> SpringLocks.registry(port, RedisLockType.SPIN_LOCK)),

	SHEDLOCK("ShedLock", false, SpringLocks::shedLock);

	private final String text;

	private final boolean waits;

	private final IntFunction<LockClient> opener;

	Contender(String text, boolean waits, IntFunction<LockClient> opener) {
		this.text = text;
		this.waits = waits;
		this.opener = opener;
	}

	private static RedissonClient redisson(int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	String text() {
		return this.text;
	}

	/** Returns whether threads can wait for a lock. */
	boolean waits() {
		return this.waits;
	}

	/** Opens a client, which ends with the JVM. */
	LockClient open(int port) {
		return this.opener.apply(port);
	}

	/** Starts a process with a client, which reports when it is ready. */
	ChildProcess start(RedisProcess redis) throws IOException {
		return ChildProcess.start(ClassPath.entries(), LockProcess.class, String.valueOf(redis.port()), name());
	}

}
