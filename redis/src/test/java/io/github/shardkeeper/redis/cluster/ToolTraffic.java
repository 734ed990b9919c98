package io.github.shardkeeper.redis.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that use a lock, a barrier, signals and a parameter all the time. Each call
 * may be answered by an exception that the tools document, but each must end, and no two
 * threads may hold the lock.
 */
final class ToolTraffic {

	private static final Duration PAUSE = Duration.ofMillis(10);

	private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(2);

	private final List<ToolUser> users;

	/** By what has succeeded and the number of its user. */
	private final Map<String, AtomicLong> successes = new ConcurrentSkipListMap<>();

	private final Queue<Section> sections = new ConcurrentLinkedQueue<>();

	private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean ended;

	ToolTraffic(List<ToolUser> users) {
		this.users = users;
		for (int i = 0; i < users.size(); i++) {
			ToolUser user = users.get(i);
			repeat("lock of " + i, () -> lock(user));
			repeat("barrier of " + i, () -> meet(user));
			AtomicLong number = new AtomicLong();
			repeat("signal of " + i,
					() -> user.signals.send(ToolUser.NAME, "signal " + number.incrementAndGet())
						.awaitAll(BARRIER_TIMEOUT)
						.complete());
		}
		AtomicLong value = new AtomicLong();
		repeat("parameter", () -> set((int) value.incrementAndGet()));
	}

	private void repeat(String name, Step step) {
		AtomicLong succeeded = new AtomicLong();
		this.successes.put(name, succeeded);
		Thread thread = new Thread(() -> {
			while (!this.ended) {
				try {
					if (step.succeeds()) {
						succeeded.incrementAndGet();
					}
				}
				catch (InterruptedException ex) {
					return;
				}
				catch (StoreUnavailableException | BarrierBrokenException | TimeoutException | LockLostException ex) {
					// The next attempt may succeed.
				}
				catch (Throwable ex) {
					this.failures.add(ex);
				}
				LockSupport.parkNanos(PAUSE.toNanos());
			}
		}, name);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	private boolean lock(ToolUser user) throws InterruptedException {
		user.lock.lockInterruptibly();
		long began = System.nanoTime();
		long token = user.lock.token().value();
		long until = began;
		try {
			for (int i = 0; i < 10; i++) {
				long now = System.nanoTime();
				if (user.lock.isHeld()) {
					until = now;
				}
				LockSupport.parkNanos(100_000);
			}
			this.sections.add(new Section(began, until, token));
		}
		finally {
			user.lock.unlock();
		}
		return true;
	}

	private boolean meet(ToolUser user) throws InterruptedException, TimeoutException {
		user.barrier.enter(this.users.size(), BARRIER_TIMEOUT);
		user.barrier.leave(BARRIER_TIMEOUT);
		return true;
	}

	private boolean set(int value) throws InterruptedException {
		this.users.get(0).parameter.set(value);
		long deadline = System.nanoTime() + BARRIER_TIMEOUT.toNanos();
		while (!this.users.stream().allMatch((user) -> user.parameter.get() == value)) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			if (System.nanoTime() > deadline) {
				return false;
			}
			LockSupport.parkNanos(PAUSE.toNanos());
		}
		return true;
	}

	/** Waits until everybody has succeeded with everything twice from now on. */
	void awaitProgress() {
		Map<String, Long> before = new TreeMap<>();
		this.successes.forEach((name, count) -> before.put(name, count.get()));
		ToolUser.await()
			.untilAsserted(() -> assertThat(this.successes).as("since %s; unexpected: %s", before, this.failures)
				.allSatisfy((name, count) -> assertThat(count.get()).as(name).isGreaterThan(before.get(name) + 1)));
	}

	/** Ends it, and checks that no two have held the lock at the same time. */
	void check() throws InterruptedException {
		end();
		assertThat(this.failures).isEmpty();
		List<Section> inOrder = this.sections.stream().sorted(Comparator.comparing(Section::began)).toList();
		for (int i = 1; i < inOrder.size(); i++) {
			Section earlier = inOrder.get(i - 1);
			assertThat(inOrder.get(i).began).as("%s and %s", earlier, inOrder.get(i)).isGreaterThan(earlier.until);
			assertThat(inOrder.get(i).token).isGreaterThan(earlier.token);
		}
	}

	/** Ends it: every call that waits is interrupted. Repeatable. */
	void end() throws InterruptedException {
		this.ended = true;
		for (Thread thread : this.threads) {
			thread.interrupt();
			thread.join(ToolUser.PATIENCE.toMillis());
			assertThat(thread.isAlive()).as("%s hangs", thread.getName()).isFalse();
		}
	}

	private interface Step {

		/** Returns whether it has done what it is for. */
		boolean succeeds() throws InterruptedException, TimeoutException;

	}

	/** A time in which a thread was sure to hold the lock. */
	private record Section(long began, long until, long token) {

	}

}
