package io.github.shardkeeper.cluster.barrier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.assertj.core.api.AbstractThrowableAssert;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.ClusterView.View;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.ViewChangedException;
import io.github.shardkeeper.cluster.memory.MemoryBarrierStore;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Barriers of several instances in one process, with real sessions. */
@Tag("proof")
class StoredBarriersTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	private final List<Party> parties = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.parties.forEach((party) -> party.instance.close());
	}

	private Party party(String name) {
		Party party = new Party(new ClusterInstance(name, this.store, this.cluster));
		this.parties.add(party);
		await().until(() -> party.instance.session().member() != null);
		return party;
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(5));
	}

	@Test
	void allEnterAndLeaveTogether() throws Exception {
		Party a = party("a");
		Party b = party("b");
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();
		assertThat(entering).isNotDone();

		b.barrier.enter(2, LONG);
		done(entering);
		CompletableFuture<?> leaving = a.leave();
		assertThat(b.barrier.name()).isEqualTo("nightly");
		b.barrier.leave(LONG);

		done(leaving);
	}

	@Test
	void hundredRoundsOfThreeInstances() throws Exception {
		AtomicInteger begun = new AtomicInteger();
		AtomicInteger finished = new AtomicInteger();
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (Party party : List.of(party("a"), party("b"), party("c"))) {
			all.add(party.run(() -> {
				for (int i = 0; i < 100; i++) {
					party.barrier.enter(3, LONG);
					// Nobody is done with this round before all have begun it, and nobody
					// begins the next one before all are done.
					assertThat(begun.incrementAndGet()).isBetween(3 * i + 1, 3 * i + 3);
					finished.incrementAndGet();
					party.barrier.leave(LONG);
					assertThat(finished.get()).isGreaterThanOrEqualTo(3 * i + 3);
				}
				return null;
			}));
		}
		for (CompletableFuture<Void> each : all) {
			each.get(120, TimeUnit.SECONDS);
		}

		assertThat(finished).hasValue(300);
	}

	@Test
	void moreThanFitInTakeTurns() throws Exception {
		AtomicInteger inside = new AtomicInteger();
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (Party party : List.of(party("a"), party("b"), party("c"), party("d"))) {
			all.add(party.run(() -> {
				party.barrier.enter(2, LONG);
				assertThat(inside.incrementAndGet()).isLessThanOrEqualTo(2);
				inside.decrementAndGet();
				party.barrier.leave(LONG);
				return null;
			}));
		}
		for (CompletableFuture<Void> each : all) {
			each.get(60, TimeUnit.SECONDS);
		}
	}

	@Test
	void cannotBeEnteredAfterTheInstanceHasStopped() {
		Party a = party("a");
		a.instance.close();

		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> a.barrier.enter(2, LONG))
			.withMessageContaining(
					"Cannot enter the barrier 'nightly' before the application has started, or after it has stopped");
	}

	@Test
	void timeOutSaysThatARoundOfOthersIsUnderWay() throws Exception {
		Party a = party("a");
		Party b = party("b");
		a.barrier.enter(1, LONG);

		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> b.barrier.enter(1, Duration.ZERO))
			.withMessage(
					"Cannot enter the barrier 'nightly' with 1 parties within PT0S: a round without this instance is "
							+ "under way, and 0 of its 1 parties have left. It can enter the next round");

		CompletableFuture<?> next = b.enter(1);
		a.barrier.leave(LONG);
		done(next);
	}

	@Test
	void partyThatTimesOutIsNotIn() throws Exception {
		Party a = party("a");
		Party b = party("b");
		Party c = party("c");

		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> a.barrier.enter(2, Duration.ofMillis(20)))
			.withMessage("Cannot enter the barrier 'nightly' with 2 parties within PT0.02S: 1 of 2 are in");
		CompletableFuture<?> entering = b.enter(2);
		b.awaitsOthers();
		assertThat(entering).isNotDone();
		c.barrier.enter(2, LONG);

		done(entering);
	}

	@Test
	void partyThatTimesOutWhenItLeavesHasLeft() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);

		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> a.barrier.leave(Duration.ZERO))
			.withMessage("Not all have left the barrier 'nightly' within PT0S: 1 of 2 are done");

		a.barrier.abort();
		b.barrier.leave(LONG);
		assertThatIllegalStateException().isThrownBy(() -> a.barrier.leave(LONG));
	}

	@Test
	void interruptedPartyIsNotIn() throws Exception {
		Party a = party("a");
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		CompletableFuture<?> entering = a.run(() -> {
			thread.complete(Thread.currentThread());
			a.barrier.enter(2, LONG);
			return null;
		});
		a.awaitsOthers();

		thread.get().interrupt();

		failure(entering).isInstanceOf(InterruptedException.class);
		a.barrier.enter(1, LONG);
	}

	@Test
	void interruptedPartyHasLeft() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		CompletableFuture<?> leaving = a.run(() -> {
			Thread.currentThread().interrupt();
			a.barrier.leave(LONG);
			return null;
		});

		failure(leaving).isInstanceOf(InterruptedException.class);
		b.barrier.leave(LONG);
	}

	@Test
	void instanceEntersOnce() throws Exception {
		Party a = party("a");
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();

		assertThatIllegalStateException().isThrownBy(() -> a.barrier.enter(2, LONG))
			.withMessage("This instance waits at the barrier 'nightly' already: only one of its threads can enter it");
		assertThatIllegalStateException().isThrownBy(() -> a.barrier.leave(LONG))
			.withMessage("This instance has not entered the barrier 'nightly', or has left it already");
		party("b").barrier.enter(2, LONG);
		done(entering);

		assertThatIllegalStateException().isThrownBy(() -> a.barrier.enter(2, LONG))
			.withMessage("This instance has entered the barrier 'nightly' already: leave it before you enter it again");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void partyThatAbortsIsNamed(boolean outage) throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		CompletableFuture<?> leaving = a.leave();
		await().until(() -> a.request() != null && a.request().last() != null);

		b.instance.cutOff(outage);
		b.barrier.abort();
		b.instance.cutOff(false);

		failure(leaving).isInstanceOf(BarrierBrokenException.class)
			.extracting((problem) -> ((BarrierBrokenException) problem).missing())
			.isEqualTo(List.of(b.instance.member()));
		b.barrier.abort();
		b.barrier.enter(1, LONG);
	}

	@Test
	void leavingWithoutEnteringIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> party("a").barrier.leave(LONG))
			.withMessage("This instance has not entered the barrier 'nightly', or has left it already");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -3, Integer.MIN_VALUE })
	void numberOfPartiesIsPositive(int number) {
		assertThatIllegalArgumentException().isThrownBy(() -> party("a").barrier.enter(number, LONG))
			.withMessage("The barrier 'nightly' cannot have %d parties: use at least 1", number);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "with space", "{braces}", "-dash" })
	void nameIsChecked(String name) {
		Party a = party("a");

		assertThatIllegalArgumentException().isThrownBy(() -> a.barriers.get(name))
			.withMessageStartingWith("The name '" + name + "' of a barrier is not valid. Use 1 to 100 letters");
	}

	@Test
	void timeOutIsNotNegativeButMayBeVeryLong() throws Exception {
		Party a = party("a");

		assertThatIllegalArgumentException().isThrownBy(() -> a.barrier.enter(1, Duration.ofMillis(-1)))
			.withMessageContaining("PT-0.001S at the barrier 'nightly' is negative");
		a.barrier.enter(1, Duration.ofSeconds(Long.MAX_VALUE));
		assertThatIllegalArgumentException().isThrownBy(() -> a.barrier.leave(Duration.ofMillis(-1)));
		a.barrier.leave(Duration.ofSeconds(Long.MAX_VALUE));
	}

	@Test
	void otherNumberOfPartiesIsNamed() throws Exception {
		Party a = party("a");
		Party b = party("b");
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();

		assertThatIllegalArgumentException().isThrownBy(() -> b.barrier.enter(3, LONG))
			.withMessage(
					"Those who wait at the barrier 'nightly' have come for 2 parties, and this instance for 3: use "
							+ "the same number");
		assertThatIllegalArgumentException().isThrownBy(() -> b.barrier.enter(b.viewOf(2), LONG))
			.withMessageContaining("have come without a view, and this instance with one");
		b.barrier.enter(2, LONG);
		done(entering);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void partyThatDiesBeforeTheBarrierIsFullIsNotMissed(boolean killed) throws Exception {
		Party a = party("a");
		Party b = party("b");
		Party c = party("c");
		CompletableFuture<?> entering = a.enter(3);
		a.awaitsOthers();
		b.enter(3);
		await().until(() -> b.request() != null);

		b.end(killed);
		await().until(() -> a.view.current().size() == 2);
		CompletableFuture<?> another = c.enter(3);
		c.awaitsOthers();
		assertThat(entering).isNotDone();
		party("d").barrier.enter(3, LONG);

		done(entering);
		done(another);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void partyThatDiesWhileItWorksIsNamed(boolean killed) throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		MemberId dead = b.instance.member();
		CompletableFuture<?> leaving = a.leave();

		b.end(killed);

		failure(leaving).isInstanceOf(BarrierBrokenException.class)
			.hasMessage(
					"The round at the barrier 'nightly' is not complete: [%s] have not left it, but ended or aborted",
					dead)
			.extracting((problem) -> ((BarrierBrokenException) problem).missing())
			.isEqualTo(List.of(dead));
		a.barrier.enter(1, LONG);
	}

	@Test
	void partyThatDiesAfterItHasLeftIsNotMissed() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		b.leave();
		await().until(() -> b.request() != null && b.request().last() != null);
		b.end(true);
		await().until(() -> a.view.current().size() == 1);

		a.barrier.leave(LONG);
	}

	@Test
	void endOfTheOwnSessionIsToldToThoseWhoWait() throws Exception {
		Party a = party("a");
		Party b = party("b");
		MemberId ended = a.instance.member();
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();

		MemoryFailover.empty(this.store);

		failure(entering).isInstanceOf(BarrierBrokenException.class)
			.hasMessage("The session %s of this instance has ended, and with it its place in the barrier 'nightly'",
					ended)
			.extracting((problem) -> ((BarrierBrokenException) problem).missing())
			.isEqualTo(List.of(ended));
		CompletableFuture<?> again = a.enter(2);
		b.enterUntilInSession(2);
		done(again);
	}

	@Test
	void endOfTheOwnSessionIsToldToThoseWhoLeave() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		MemberId ended = a.instance.member();

		a.instance.cutOff(true);
		failure(b.leave()).isInstanceOf(BarrierBrokenException.class).hasMessageContaining(ended.value());
		CompletableFuture<?> leaving = a.leave();
		a.instance.cutOff(false);

		failure(leaving).isInstanceOf(BarrierBrokenException.class)
			.hasMessageStartingWith("The session " + ended + " of this instance has ended");
	}

	@Test
	void allHaveTheSameView() throws Exception {
		Party a = party("a");
		Party b = party("b");
		View view = a.viewOf(2);
		CompletableFuture<?> entering = a.enter(view);
		b.barrier.enter(b.viewOf(2), LONG);

		done(entering);
		CompletableFuture<?> leaving = a.leave();
		b.barrier.leave(LONG);
		done(leaving);
	}

	@Test
	void newMemberIsToldToThoseWhoWait() throws Exception {
		Party a = party("a");
		party("b");
		View view = a.viewOf(2);
		CompletableFuture<?> entering = a.enter(view);
		a.awaitsOthers();

		party("c").viewOf(3);

		failure(entering).isInstanceOf(ViewChangedException.class)
			.hasMessageStartingWith("The barrier 'nightly' cannot be entered with the view " + view.number())
			.hasMessageContaining("the group has the view");
		assertThat(a.view.current().number()).as("for a retry at once").isGreaterThan(view.number());
		assertThatExceptionOfType(ViewChangedException.class).isThrownBy(() -> a.barrier.enter(view, LONG));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void deathIsToldToThoseWhoWaitWithAView(boolean killed) throws Exception {
		Party a = party("a");
		Party b = party("b");
		CompletableFuture<?> entering = a.enter(a.viewOf(2));
		a.awaitsOthers();

		b.end(killed);

		failure(entering).isInstanceOf(ViewChangedException.class);
		a.barrier.enter(a.viewOf(1), LONG);
	}

	@Test
	void viewWithoutThisInstanceIsRefused() {
		Party a = party("a");

		assertThatIllegalArgumentException().isThrownBy(() -> a.barrier.enter(View.NONE, LONG))
			.withMessage("The view 0 does not contain this instance, so it cannot enter the barrier 'nightly' with it: "
					+ "use the current() view of ClusterView, once it has an index()");
	}

	@Test
	void lostMessagesDelayOnly() throws Exception {
		Party a = party("a");
		Party b = party("b");
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();
		a.instance.deaf(true);

		b.barrier.enter(2, LONG);
		done(entering);
		CompletableFuture<?> leaving = a.leave();
		await().until(() -> a.request() != null && a.request().last() != null);
		b.barrier.leave(LONG);

		done(leaving);
	}

	@Test
	void outageThatTheSessionSurvivesDelaysOnly() throws Exception {
		Party a = party("a");
		Party b = party("b");
		a.instance.cutOff(true);
		CompletableFuture<?> entering = a.enter(2);
		await().until(() -> a.request() != null && a.request().failure() != null);
		a.instance.cutOff(false);
		b.barrier.enter(2, LONG);
		done(entering);

		a.instance.cutOff(true);
		CompletableFuture<?> leaving = a.leave();
		await().until(() -> a.request() != null && a.request().failure() != null);
		a.instance.cutOff(false);
		b.barrier.leave(LONG);

		done(leaving);
	}

	@Test
	void timeOutNamesTheOutage() {
		Party a = party("a");
		a.instance.cutOff(true);

		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> a.barrier.enter(1, Duration.ZERO))
			.withMessageEndingWith("the store does not reply")
			.withCauseInstanceOf(StoreUnavailableException.class);
	}

	/** Its place is given up once the store replies. */
	@Test
	void partyThatTimesOutInAnOutageIsNotIn() throws Exception {
		Party a = party("a");
		Party b = party("b");
		a.instance.cutOffAfter("enter");
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> a.barrier.enter(2, Duration.ofMillis(200)))
			.withMessageContaining("1 of 2 are in");
		a.instance.cutOff(false);
		await().until(() -> a.instance.session().member() != null);

		a.barrier.enter(1, LONG);
		a.barrier.leave(LONG);
		b.barrier.enter(1, LONG);
	}

	@Test
	void partyThatTimesOutLeavingInAnOutageHasLeft() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		a.instance.cutOff(true);
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> a.barrier.leave(Duration.ZERO));
		a.instance.cutOff(false);

		b.barrier.leave(LONG);
	}

	/** The store hears that it has left before it hears that it enters again. */
	@Test
	void partyThatHasLeftInAnOutageAndEntersAgainBreaksNothing() throws Exception {
		Party a = party("a");
		Party b = party("b");
		LosesLeaving lossy = new LosesLeaving(new MemoryBarrierStore(this.cluster));
		StoredBarriers barriers = new StoredBarriers(a.instance.session(), lossy);
		DoubleBarrier barrier = barriers.get("nightly");
		CompletableFuture<?> entering = b.enter(2);
		barrier.enter(2, LONG);
		done(entering);
		lossy.loses = true;
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> barrier.leave(Duration.ZERO));
		CompletableFuture<?> again = a.run(() -> {
			barrier.enter(2, LONG);
			return null;
		});
		await().until(() -> {
			BarrierRequest waiting = barriers.waiting("nightly");
			return waiting != null && (waiting.last() != null || waiting.failure() != null);
		});
		lossy.loses = false;

		b.barrier.leave(LONG);

		b.barrier.enter(2, LONG);
		done(again);
	}

	@Test
	void lostRoundIsReported() throws Exception {
		Party a = party("a");
		Party b = party("b");
		Object snapshot = MemoryFailover.snapshot(this.store);
		enterBoth(a, b);

		MemoryFailover.loseWritesSince(this.store, snapshot);

		assertThatExceptionOfType(BarrierBrokenException.class).isThrownBy(() -> a.barrier.leave(LONG))
			.withMessageStartingWith("The store has lost the round at the barrier 'nightly'")
			.matches((problem) -> problem.missing().isEmpty());
		assertThatExceptionOfType(BarrierBrokenException.class).isThrownBy(() -> b.barrier.leave(LONG));
	}

	@Test
	void partyThatWaitsEntersAgainAfterALossOfWrites() throws Exception {
		Party a = party("a");
		Party b = party("b");
		Object snapshot = MemoryFailover.snapshot(this.store);
		CompletableFuture<?> entering = a.enter(2);
		a.awaitsOthers();
		MemoryFailover.loseWritesSince(this.store, snapshot);

		b.barrier.enter(2, LONG);

		done(entering);
	}

	/** A party that has left does not know that the others wait for it again. */
	@Test
	void lostLeavingIsToldAgain() throws Exception {
		Party a = party("a");
		Party b = party("b");
		enterBoth(a, b);
		Object snapshot = MemoryFailover.snapshot(this.store);
		assertThatThrownBy(() -> a.barrier.leave(Duration.ZERO)).isInstanceOf(TimeoutException.class);
		MemoryFailover.loseWritesSince(this.store, snapshot);
		a.tool.writesMayBeLost();
		a.instance.session().requestCatchUp();

		b.barrier.leave(LONG);
	}

	@Test
	void unusedBarrierLeavesNothing() throws Exception {
		Party a = party("a");
		a.barrier.enter(1, LONG);
		a.barrier.leave(LONG);

		assertThat(a.barrier).hasToString("barrier 'nightly' of group 'group'");
		IntStream.range(0, 3).forEach((i) -> assertThat(a.barriers.get("other-" + i).name()).isEqualTo("other-" + i));
	}

	private static void enterBoth(Party a, Party b) throws Exception {
		CompletableFuture<?> entering = a.enter(2);
		b.barrier.enter(2, LONG);
		done(entering);
	}

	private static void done(CompletableFuture<?> work) throws Exception {
		work.get(60, TimeUnit.SECONDS);
	}

	private static AbstractThrowableAssert<?, ? extends Throwable> failure(CompletableFuture<?> work) {
		return assertThatThrownBy(() -> {
			try {
				done(work);
			}
			catch (ExecutionException ex) {
				throw ex.getCause();
			}
		});
	}

	/** While it loses them, nobody can leave. */
	private static final class LosesLeaving implements BarrierStore {

		private final BarrierStore store;

		private volatile boolean loses;

		LosesLeaving(BarrierStore store) {
			this.store = store;
		}

		@Override
		public Reply enter(Request request) {
			return this.store.enter(request);
		}

		@Override
		public Reply withdraw(MemberId session, String barrier, String ticket, boolean force) {
			return this.store.withdraw(session, barrier, ticket, force);
		}

		@Override
		public Reply leave(MemberId session, String barrier, String ticket, long round) {
			if (this.loses) {
				throw new StoreUnavailableException("lost", null);
			}
			return this.store.leave(session, barrier, ticket, round);
		}

	}

	/** An instance at the barrier. */
	private static final class Party {

		private final ClusterInstance instance;

		private final StoredBarriers barriers;

		private final StoredBarriers tool;

		private final ClusterView view;

		private final DoubleBarrier barrier;

		Party(ClusterInstance instance) {
			this.instance = instance;
			this.barriers = (StoredBarriers) instance.barriers();
			this.tool = this.barriers;
			this.view = instance.view();
			this.barrier = this.barriers.get("nightly");
		}

		<T> CompletableFuture<T> run(Callable<T> work) {
			return this.instance.run(work);
		}

		CompletableFuture<?> enter(int number) {
			return run(() -> {
				this.barrier.enter(number, LONG);
				return null;
			});
		}

		CompletableFuture<?> enter(View with) {
			return run(() -> {
				this.barrier.enter(with, LONG);
				return null;
			});
		}

		CompletableFuture<?> leave() {
			return run(() -> {
				this.barrier.leave(LONG);
				return null;
			});
		}

		/** Enters; again if its session ends meanwhile. */
		void enterUntilInSession(int number) throws Exception {
			while (true) {
				try {
					this.barrier.enter(number, LONG);
					return;
				}
				catch (BarrierBrokenException ex) {
					// In the next session.
				}
			}
		}

		BarrierRequest request() {
			return this.barriers.waiting("nightly");
		}

		/** Waits until the store knows that it waits. */
		void awaitsOthers() {
			await().until(() -> request() != null && request().last() instanceof BarrierStore.Waiting);
		}

		View viewOf(int size) {
			await().until(() -> this.view.current().size() == size);
			return this.view.current();
		}

		void end(boolean killed) {
			if (killed) {
				this.instance.close();
			}
			else {
				this.instance.leave();
			}
		}

	}

}
