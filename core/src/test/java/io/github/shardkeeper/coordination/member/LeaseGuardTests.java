package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseGuardTests {

	private final BlockingQueue<String> told = new LinkedBlockingQueue<>();

	private final MonotonicTime start = MonotonicClock.SYSTEM.now();

	private final Lease lease = new Lease(Duration.ofHours(1), this.start);

	private final AtomicInteger failures = new AtomicInteger();

	private final LeaseGuard guard = new LeaseGuard(this.lease, TestRuntime.on(MonotonicClock.SYSTEM), this::ended);

	@AfterEach
	void close() {
		this.guard.close();
	}

	@Test
	void everyEndIsReportedOnce() throws InterruptedException {
		this.guard.leaseChanged();
		hold();
		arm();

		this.lease.end();
		this.guard.leaseChanged();
		this.guard.leaseChanged();
		assertNotifiedOf("ended");

		hold();
		arm();
		assertThat(this.told).isEmpty();
	}

	@Test
	void failedReportOfTheEndIsRepeated() throws InterruptedException {
		this.failures.set(1);
		hold();
		arm();

		this.lease.end();
		this.guard.leaseChanged();
		assertNotifiedOf("failed");
		assertNotifiedOf("ended");
	}

	@Test
	void endIsReportedWithoutAWakeUp() throws InterruptedException {
		MonotonicTime longAgo = this.start.minus(Duration.ofMinutes(54)).plus(Duration.ofMillis(1000));
		this.lease.renew(longAgo, this.start);
		arm();

		assertNotifiedOf("ended");
		assertThat(this.start.until(MonotonicClock.SYSTEM.now())).isGreaterThanOrEqualTo(Duration.ofMillis(1000));
	}

	@Test
	void renewalDelaysTheEnd() throws InterruptedException {
		MonotonicTime longAgo = this.start.minus(Duration.ofMinutes(54));
		this.lease.renew(longAgo.plus(Duration.ofMillis(1000)), this.start);
		arm();
		// Without a word to the guard, as a heartbeat does it.
		this.lease.renew(longAgo.plus(Duration.ofMillis(1500)), this.start);

		assertNotifiedOf("ended");
		assertThat(this.start.until(MonotonicClock.SYSTEM.now())).isGreaterThanOrEqualTo(Duration.ofMillis(1500));
	}

	private void ended() {
		if (this.failures.getAndDecrement() > 0) {
			this.told.add("failed");
			throw new IllegalStateException("caused by the test");
		}
		this.told.add("ended");
	}

	private void arm() {
		this.guard.leaseChanged();
		Awaitility.await().until(this.guard::isArmed);
	}

	private void hold() {
		this.lease.renew(MonotonicClock.SYSTEM.now(), MonotonicClock.SYSTEM.now());
		this.guard.leaseChanged();
	}

	private void assertNotifiedOf(String what) throws InterruptedException {
		assertThat(this.told.poll(10, TimeUnit.SECONDS)).isEqualTo(what);
	}

}
