package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.ForwardingStore;
import io.github.shardkeeper.protocol.GroupProblems.GroupStatus;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class HeartbeatSchedulerTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final Duration LONG = Duration.ofHours(1);

	private static final HeartbeatReply ALIVE = alive(0, 0, 0);

	private static final HeartbeatReply LOST = new HeartbeatReply.Alive(1_000, ME, 1, 0, 0, 1, 1, 1, List.of(), 2, true,
			true, 0, 0, 0, Long.MAX_VALUE, GroupStatus.NONE);

	private final SettableClock settableClock = new SettableClock();

	private final ScriptedStore store = new ScriptedStore();

	private final Told told = new Told();

	private Lease lease;

	private HeartbeatScheduler heartbeats;

	@AfterEach
	void close() {
		this.store.letGo();
		this.heartbeats.close();
	}

	@Test
	void noHeartbeatIsSentBeforeASessionBegins() {
		start(Duration.ofMillis(1), LONG, MonotonicClock.SYSTEM);
		this.heartbeats.beatNow();
		begin();

		this.store.awaitBeats(1);
		assertThat(this.store.beats.get(0).seenGeneration()).isZero();
	}

	@Test
	void oneHeartbeatIsSentPerInterval() {
		start(Duration.ofMillis(20), LONG, MonotonicClock.SYSTEM);
		begin();

		this.store.awaitBeats(5);
		List<Beat> beats = this.store.beats;
		for (int i = 1; i < 5; i++) {
			assertThat(beats.get(i - 1).at().until(beats.get(i).at())).isGreaterThan(Duration.ofMillis(10));
		}
		assertThat(beats.get(0).at().until(beats.get(4).at())).isGreaterThan(Duration.ofMillis(70));
	}

	@Test
	@Promise("One consumer")
	void leaseCountsFromTheTimeOfSending() throws InterruptedException {
		start(LONG, Duration.ofSeconds(10), this.settableClock);
		MonotonicTime sentAt = this.settableClock.now();
		this.store.replies = (beat) -> {
			this.settableClock.advance(Duration.ofSeconds(4));
			return ALIVE;
		};
		begin();

		this.told.assertNext("held");
		assertThat(this.lease.endsAt()).isEqualTo(sentAt.plus(Duration.ofSeconds(9)));
	}

	@Test
	void answerAfterTheLeaseDoesNotRenewIt() {
		start(LONG, Duration.ofSeconds(10), this.settableClock);
		this.store.replies = (beat) -> {
			this.settableClock.advance(Duration.ofSeconds(9));
			return ALIVE;
		};
		begin();

		await().until(() -> this.told.replies.size() == 1);
		assertThat(this.lease.isHeld(this.settableClock.now())).isFalse();
	}

	@Test
	void notificationCausesAnExtraHeartbeat() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		begin();
		this.store.awaitBeats(1);

		this.heartbeats.beatNow();
		this.store.awaitBeats(2);
	}

	@Test
	void loadReportIsSentUntilAHeartbeatIsAnswered() {
		start(Duration.ofMillis(20), LONG, MonotonicClock.SYSTEM);
		begin();
		this.store.awaitBeats(1);
		this.store.setAway(true);
		this.heartbeats.report(new LoadReport("first"));
		this.heartbeats.report(new LoadReport("much"));
		await().until(() -> this.store.reports().stream().filter("much"::equals).count() >= 2);
		this.store.setAway(false);
		int answered = this.told.replies.size();
		await().until(() -> this.told.replies.size() > answered + 2);

		List<String> reports = this.store.reports();
		assertThat(reports.subList(reports.lastIndexOf("much") + 1, reports.size())).isNotEmpty().containsOnly("");
		assertThat(reports.get(0)).isEmpty();
	}

	@Test
	void loadReportIsNotSentInAnotherSession() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		begin();
		this.store.awaitBeats(1);
		this.heartbeats.report(new LoadReport("much"));
		this.heartbeats.endSession();
		this.heartbeats.report(new LoadReport("more"));
		begin();
		this.store.awaitBeats(2);

		assertThat(this.store.reports()).containsOnly("");
	}

	@Test
	void notificationsDuringAHeartbeatCauseOneMore() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.holdBack();
		begin();
		this.store.awaitBeats(1);
		for (int i = 0; i < 10; i++) {
			this.heartbeats.beatNow();
		}
		this.store.letGo();

		await().until(() -> this.told.replies.size() == 2 && this.store.isIdle());
		assertThat(this.store.beats).hasSize(2);
	}

	@Test
	void heartbeatIsSentWhenTheLeadersLeaseEnds() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> (beat == 1) ? alive(50, 0, 0) : ALIVE;
		begin();

		this.store.awaitBeats(2);
		assertThat(this.store.beats.get(0).at().until(this.store.beats.get(1).at()))
			.isGreaterThanOrEqualTo(Duration.ofMillis(50));
		assertThat(this.store.beats.get(1).candidate()).isTrue();
	}

	@Test
	void nextHeartbeatIsSentAtOnceIfThereIsMore() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> alive(0, Math.min(5 * beat, 12), 12);
		begin();

		this.store.awaitBeats(3);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 5L, 10L);
		this.heartbeats.beatNow();
		this.store.awaitBeats(4);
		assertThat(this.store.beats.get(3).seenGeneration()).isEqualTo(12);
	}

	/** Only the store can detect a loss, by comparing with what the member has seen. */
	@Test
	void seenPositionIsConfirmedBeforeEverythingIsRead() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> alive(0, 12, 12);
		begin();
		this.store.awaitBeats(1);
		await().until(this.store::isIdle);
		this.heartbeats.confirmSeen();

		this.store.awaitBeats(3);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 12L, 0L);
	}

	@Test
	void seenPositionIsConfirmedAfterAnUnexpectedFailure() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> {
			if (beat == 2) {
				throw new ExpectedException();
			}
			return alive(0, 12, 12);
		};
		begin();
		awaitAnswers(1);
		this.heartbeats.confirmSeen();
		this.store.awaitBeats(2);
		this.heartbeats.beatNow();

		this.store.awaitBeats(4);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 12L, 12L, 0L);
	}

	/** A failover may be why it failed: nothing else would tell what that has lost. */
	@Test
	void failedHeartbeatKeepsTheSeenPosition() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> (beat == 2) ? unavailable() : alive(0, 12, 12);
		begin();
		awaitAnswers(1);
		this.heartbeats.requestAllChanges();
		await().until(() -> this.told.failures.size() == 1);
		this.heartbeats.beatNow();

		this.store.awaitBeats(4);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 0L, 12L, 0L);
	}

	@Test
	void seenPositionIsKeptWhileEverythingIsReadInPages() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> switch (beat) {
			case 2 -> alive(0, 5, 12);
			case 3 -> unavailable();
			default -> alive(0, 12, 12);
		};
		begin();
		awaitAnswers(1);
		this.heartbeats.requestAllChanges();
		await().until(() -> this.told.failures.size() == 1);
		this.heartbeats.beatNow();

		this.store.awaitBeats(5);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 0L, 5L, 12L, 0L);
	}

	@Test
	void generationLowerThanSeenResetsTheSeenGeneration() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> (beat == 2) ? alive(0, 10, 10) : alive(0, 12, 12);
		begin();
		awaitAnswers(1);
		this.heartbeats.requestAllChanges();
		awaitAnswers(2);
		this.heartbeats.beatNow();

		this.store.awaitBeats(3);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 0L, 12L);
	}

	@Test
	void requestDuringAHeartbeatReadsEverythingOnceMore() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> alive(0, 12, 12);
		begin();
		awaitAnswers(1);
		this.store.holdBack();
		this.heartbeats.requestAllChanges();
		this.store.awaitBeats(2);
		this.heartbeats.requestAllChanges();
		this.store.letGo();
		awaitAnswers(3);
		this.heartbeats.beatNow();

		this.store.awaitBeats(4);
		assertThat(this.store.beats).extracting(Beat::seenGeneration).containsExactly(0L, 0L, 0L, 12L);
	}

	@Test
	void endAndRenewalOfTheLeaseAreReportedOnce() throws InterruptedException {
		start(Duration.ofMillis(10), Duration.ofMillis(200), MonotonicClock.SYSTEM);
		begin();
		this.told.assertNext("held");

		this.store.setAway(true);
		this.told.assertNext("ended");
		int failures = this.told.failures.size();
		await().until(() -> this.told.failures.size() > failures + 3);
		this.store.setAway(false);
		this.told.assertNext("held");
	}

	/**
	 * No record is handled after 80 % of the lease, and at 90 % it ends: a reply in
	 * between must wake sleeping workers.
	 */
	@Test
	void answerJustBeforeTheEndOfTheLeaseResumesHandingOut() throws InterruptedException {
		AtomicReference<MonotonicTime> time = new AtomicReference<>(MonotonicClock.SYSTEM.now());
		start(LONG, Duration.ofSeconds(10), time::get);
		begin();
		this.told.assertNext("held");
		time.updateAndGet((now) -> now.plus(Duration.ofMillis(7900)));
		this.heartbeats.beatNow();
		this.store.awaitBeats(2);
		await().until(this.store::isIdle);
		assertThat(this.told.events).isEmpty();

		time.updateAndGet((now) -> now.plus(Duration.ofMillis(8500)));
		assertThat(this.lease.isHeld(time.get())).isTrue();
		assertThat(this.lease.permitsHandOut(time.get())).isFalse();
		this.heartbeats.beatNow();
		this.told.assertNext("held");
		assertThat(this.lease.permitsHandOut(time.get())).isTrue();
	}

	@Test
	@Promise("One consumer")
	void hangingHeartbeatDoesNotDelayTheEndOfTheLease() throws InterruptedException {
		start(Duration.ofMillis(10), Duration.ofMillis(200), MonotonicClock.SYSTEM);
		begin();
		this.told.assertNext("held");

		this.store.holdBack();
		this.told.assertNext("ended");
		assertThat(this.lease.isHeld(MonotonicClock.SYSTEM.now())).isFalse();
		assertThat(this.store.isHanging()).isTrue();
		this.store.letGo();
		this.told.assertNext("held");
	}

	/** The end of the lease is watched again in the next session. */
	@Test
	void sessionAfterAnExpiredOneHasALeaseThatEnds() throws InterruptedException {
		start(Duration.ofMillis(10), Duration.ofSeconds(1), MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> (beat == 2) ? new HeartbeatReply.Expired() : ALIVE;
		begin();
		this.told.assertNext("held");
		this.told.assertNext("expired " + ME);
		this.heartbeats.endSession();

		begin();
		this.told.assertNext("held");
		this.store.setAway(true);
		this.told.assertNext("ended");
	}

	@Test
	void expiredSessionEndsHeartbeatsButNotTheLease() throws InterruptedException {
		start(Duration.ofMillis(1), LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> (beat < 3) ? ALIVE : new HeartbeatReply.Expired();
		begin();

		this.told.assertNext("held");
		this.told.assertNext("expired " + ME);
		await().until(this.store::isIdle);
		assertThat(this.store.beats).hasSize(3);
		assertThat(this.lease.isHeld(MonotonicClock.SYSTEM.now())).isTrue();
		this.heartbeats.endSession();
		assertThat(this.lease.isHeld(MonotonicClock.SYSTEM.now())).isFalse();
		assertThat(this.told.events).as("that the lease ended with it is no news").isEmpty();
	}

	@Test
	void leaseIsRenewedAfterLostWritesOnlyOnceShardsAreConfirmed() throws InterruptedException {
		AtomicReference<MonotonicTime> time = new AtomicReference<>(MonotonicClock.SYSTEM.now());
		start(LONG, Duration.ofSeconds(10), time::get);
		this.store.replies = (beat) -> (beat == 2 || beat == 4) ? LOST : ALIVE;
		begin();
		await().until(() -> this.told.replies.size() == 1);
		MonotonicTime end = this.lease.endsAt();

		beatAfter(Duration.ofSeconds(2), time, 2);
		beatAfter(Duration.ofSeconds(2), time, 3);
		beatAfter(Duration.ofSeconds(2), time, 4);
		assertThat(this.lease.endsAt()).isEqualTo(end);
		this.heartbeats.confirmed(1);
		await().until(() -> this.told.replies.size() == 5);
		assertThat(this.lease.endsAt()).as("lost more meanwhile").isEqualTo(end);

		this.heartbeats.confirmed(2);
		await().until(() -> this.told.replies.size() == 6);
		assertThat(this.lease.endsAt()).isEqualTo(end.plus(Duration.ofSeconds(6)));
	}

	private void beatAfter(Duration pause, AtomicReference<MonotonicTime> time, int replies) {
		time.updateAndGet((now) -> now.plus(pause));
		this.heartbeats.beatNow();
		await().until(() -> this.told.replies.size() == replies);
	}

	@Test
	void newSessionReadsEverything() throws InterruptedException {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> alive(0, 9, 9);
		begin();
		await().until(() -> this.told.replies.size() == 1);
		this.heartbeats.endSession();
		MemberId again = MemberId.of("me", "2");
		this.heartbeats.beginSession(again, false, () -> false);

		this.store.awaitBeats(2);
		assertThat(this.store.beats.get(1)).satisfies((beat) -> {
			assertThat(beat.member()).isEqualTo(again);
			assertThat(beat.seenGeneration()).isZero();
			assertThat(beat.candidate()).isFalse();
		});
	}

	@Test
	void answerForAnEndedSessionIsDropped() {
		start(LONG, LONG, MonotonicClock.SYSTEM);
		this.store.holdBack();
		begin();
		this.store.awaitBeats(1);
		this.heartbeats.endSession();
		this.store.letGo();

		await().until(this.store::isIdle);
		assertThat(this.told.replies).isEmpty();
		assertThat(this.lease.isHeld(MonotonicClock.SYSTEM.now())).isFalse();
	}

	@Test
	@Promise("Automatic recovery")
	void unexpectedFailureDoesNotEndHeartbeats() {
		start(Duration.ofMillis(1), LONG, MonotonicClock.SYSTEM);
		this.store.replies = (beat) -> {
			if (beat == 1) {
				throw new ExpectedException();
			}
			return ALIVE;
		};
		begin();

		this.store.awaitBeats(3);
	}

	private void start(Duration interval, Duration leaseLength, MonotonicClock clock) {
		this.lease = new Lease(leaseLength, clock.now());
		this.heartbeats = new HeartbeatScheduler(this.store, this.lease, interval, TestRuntime.on(clock));
		this.heartbeats.start(this.told);
	}

	private void awaitAnswers(int count) {
		await().until(() -> this.told.replies.size() == count);
	}

	private static HeartbeatReply unavailable() {
		throw new StoreUnavailableException("away, caused by the test", new IllegalStateException());
	}

	private void begin() {
		this.heartbeats.beginSession(ME, false, () -> true);
	}

	private static HeartbeatReply.Alive alive(long leaderHasMillis, long through, long generation) {
		return new HeartbeatReply.Alive(1_000, ME, 1, 1_000 + leaderHasMillis, 0, generation, 1, through, List.of(), 1,
				false, true, 0, 0, 0, Long.MAX_VALUE, GroupStatus.NONE);
	}

	private record Beat(MemberId member, long seenGeneration, boolean candidate, String load, MonotonicTime at) {

	}

	/** Replies heartbeats caused by the test, and nothing else. */
	private static final class ScriptedStore extends ForwardingStore {

		private final List<Beat> beats = new CopyOnWriteArrayList<>();

		private volatile Function<Integer, HeartbeatReply> replies = (beat) -> ALIVE;

		private volatile CountDownLatch gate = new CountDownLatch(0);

		private volatile boolean hanging;

		private volatile Thread thread;

		ScriptedStore() {
			super(new MemoryCoordinationStore());
		}

		@Override
		public HeartbeatReply heartbeat(MemberId member, Seen seen, boolean candidate, LoadReport load) {
			this.thread = Thread.currentThread();
			this.beats.add(new Beat(member, seen.generation(), candidate, load.text(), MonotonicClock.SYSTEM.now()));
			reach();
			try {
				this.hanging = this.gate.getCount() > 0;
				this.gate.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.hanging = false;
			return this.replies.apply(this.beats.size());
		}

		List<String> reports() {
			return this.beats.stream().map(Beat::load).toList();
		}

		void holdBack() {
			this.gate = new CountDownLatch(1);
		}

		void letGo() {
			this.gate.countDown();
		}

		boolean isHanging() {
			return this.hanging;
		}

		/** The thread waits for the next time or event. */
		boolean isIdle() {
			Thread.State state = this.thread.getState();
			return state == Thread.State.TIMED_WAITING || state == Thread.State.WAITING;
		}

		void awaitBeats(int count) {
			await().until(() -> this.beats.size() >= count);
		}

	}

	private static final class Told implements HeartbeatScheduler.Listener {

		private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

		private final List<HeartbeatReply> replies = new CopyOnWriteArrayList<>();

		private final List<Exception> failures = new CopyOnWriteArrayList<>();

		void assertNext(String event) throws InterruptedException {
			assertThat(this.events.poll(10, TimeUnit.SECONDS)).isEqualTo(event);
		}

		@Override
		public void heartbeatAnswered(MemberId member, HeartbeatReply.Alive reply, MonotonicTime sentAt) {
			this.replies.add(reply);
		}

		@Override
		public void heartbeatFailed(MemberId member, StoreUnavailableException failure) {
			this.failures.add(failure);
		}

		@Override
		public void sessionExpired(MemberId member) {
			this.events.add("expired " + member);
		}

		@Override
		public void leaseEnded() {
			this.events.add("ended");
		}

		@Override
		public void handOutResumed() {
			this.events.add("held");
		}

	}

	/** It is logged: without a trace. */
	private static final class ExpectedException extends RuntimeException {

		ExpectedException() {
			super("expected by a test", null, false, false);
		}

	}

}
