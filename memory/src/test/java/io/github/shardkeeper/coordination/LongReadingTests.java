package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.ForwardingStore;
import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group so large, or a store so slow, that reading it takes longer than a lease. Time
 * passes only in steps, and no step before a heartbeat of the one before was answered: a
 * machine that is busy with something else ends no lease.
 */
@Tag("proof")
class LongReadingTests {

	private static final Duration STEP = TestInstance.LEASE.dividedBy(10);

	/** Three leases. */
	private static final int STEPS = 30;

	private final SettableClock clock = new SettableClock();

	private final MemoryCoordinationStore memory = new MemoryCoordinationStore(
			() -> Instant.ofEpochSecond(1).plusNanos(this.clock.now().nanos()));

	private final Semaphore heartbeats = new Semaphore(0);

	/** The group when it was read for the first time. */
	private final CompletableFuture<GroupChanges> read = new CompletableFuture<>();

	private TestInstance instance;

	@AfterEach
	void close() {
		this.instance.kill();
	}

	@Test
	void leaderThatGetsAnswersKeepsLeading() throws Exception {
		start(true);

		GroupChanges then = this.read.get(60, TimeUnit.SECONDS);
		assertThat(then.epoch()).isEqualTo(1);
		assertThat(then.leader()).isEqualTo(this.instance.coordinator.member().orElseThrow());
		Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(2)).until(() -> {
			step();
			return this.instance.consumption.consumed().size() == 4;
		});
	}

	@Test
	void leaderThatGetsNoAnswersResigns() throws Exception {
		start(false);

		GroupChanges then = this.read.get(60, TimeUnit.SECONDS);
		assertThat(then.epoch()).isEqualTo(1);
		assertThat(then.leader()).isNull();
	}

	private void start(boolean answered) {
		this.instance = TestInstance.on(this.clock, "a", new ForwardingStore(this.memory) {

			@Override
			public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
				HeartbeatReply reply = super.heartbeat(member, seen, candidate, load);
				LongReadingTests.this.heartbeats.release();
				return reply;
			}

			@Override
			public GroupChanges readChanges(long afterGeneration, long seenMembership, Runnable onStep) {
				if (!LongReadingTests.this.read.isDone()) {
					readSlowly(answered ? onStep : () -> {
					});
				}
				return super.readChanges(afterGeneration, seenMembership, onStep);
			}

		}, new TestConsumption.Ledger());
		this.instance.start();
	}

	private void readSlowly(Runnable onStep) {
		try {
			for (int i = 0; i < STEPS; i++) {
				step();
				onStep.run();
			}
			this.read.complete(this.memory.readChanges(0, -1));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Longer than from one heartbeat to the next. */
	private void step() throws InterruptedException {
		this.heartbeats.drainPermits();
		this.clock.advance(STEP);
		this.heartbeats.acquire();
	}

}
