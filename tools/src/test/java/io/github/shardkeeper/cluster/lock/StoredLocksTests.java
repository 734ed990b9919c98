package io.github.shardkeeper.cluster.lock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.LockLostException;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryLockStore;
import io.github.shardkeeper.cluster.memory.MemoryLocks;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Locks of several instances in one process, with real sessions. */
@Tag("proof")
class StoredLocksTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	private final List<ClusterInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(ClusterInstance::close);
	}

	@Test
	void lockIsHeldUntilItIsUnlocked() {
		ClusterLock lock = instance("a").locks().get("l");
		assertThat(lock.isHeld()).isFalse();

		lock.lock();

		assertThat(lock.isHeld()).isTrue();
		assertThat(lock.token()).isGreaterThan(Token.NONE);
		assertThat(lock.name()).isEqualTo("l");
		assertThat(lock).hasToString("lock 'l' of group 'group'");
		lock.unlock();
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void lockIsReentrantForItsThread() {
		ClusterLocks locks = instance("a").locks();
		ClusterInstance b = instance("b");
		ClusterLocks others = b.locks();
		await().until(() -> b.session().member() != null);
		ClusterLock lock = locks.get("l");
		lock.lock();
		Token token = lock.token();

		assertThat(locks.get("l").tryLock()).isTrue();
		lock.lock();
		assertThat(lock.token()).isEqualTo(token);
		lock.unlock();
		lock.unlock();
		assertThat(lock.isHeld()).isTrue();
		assertThat(others.get("l").tryLock()).isFalse();
		lock.unlock();

		assertThat(lock.isHeld()).isFalse();
		assertThat(others.get("l").tryLock()).isTrue();
		assertThat(others.get("l").token()).isGreaterThan(token);
	}

	@Test
	void otherThreadOfTheSameInstanceWaits() throws Exception {
		ClusterInstance a = instance("a");
		ClusterLock lock = a.locks().get("l");
		lock.lock();
		CompletableFuture<Boolean> held = a.run(() -> {
			lock.lock();
			return lock.isHeld();
		});
		CompletableFuture<Boolean> now = a.run(lock::tryLock);

		assertThat(now.get(30, TimeUnit.SECONDS)).isFalse();
		assertThat(held).isNotDone();
		lock.unlock();

		assertThat(held.get(30, TimeUnit.SECONDS)).isTrue();
		assertThat(lock.isHeld()).as("on this thread").isFalse();
	}

	@Test
	void threadsOfAllInstancesGetItInTheOrderOfAsking() {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLocks ofA = a.locks();
		ClusterLocks ofB = b.locks();
		ofA.get("l").lock();
		ofB.get("other").lock();
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<CompletableFuture<?>> all = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			int number = i;
			ClusterLock lock = ((i % 2 == 0) ? ofA : ofB).get("l");
			all.add(((i % 2 == 0) ? a : b).run(() -> {
				lock.lock();
				order.add(number);
				lock.unlock();
				return true;
			}));
			await().until(() -> waiting("l") == number + 1);
		}

		ofA.get("l").unlock();

		await().until(() -> all.stream().allMatch(CompletableFuture::isDone));
		assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	}

	/** Asks the store: a further one would be behind so many. */
	private int waiting(String lock) {
		return this.store.transition((group) -> MemoryLocks.waiting(group, lock));
	}

	@Test
	void lockOfAKilledHolderMovesAfterItsLease() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		Token first = a.run(() -> {
			ClusterLock lock = a.locks().get("l");
			lock.lock();
			return lock.token();
		}).get(30, TimeUnit.SECONDS);
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Token> second = b.run(() -> {
			lock.lock();
			return lock.token();
		});
		await().until(() -> waiting("l") == 1);

		a.close();

		assertThat(second.get(30, TimeUnit.SECONDS)).isGreaterThan(first);
	}

	@Test
	void lockOfAnInstanceThatLeavesMovesAtOnce() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Boolean> second = b.run(() -> {
			lock.lock();
			return lock.isHeld();
		});
		await().until(() -> waiting("l") == 1);

		a.leave();

		assertThat(second.get(30, TimeUnit.SECONDS)).isTrue();
		assertThat(held.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::unlock);
	}

	@Test
	void holderThatIsCutOffKnowsBeforeAnotherHoldsIt() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		CountDownLatch lost = new CountDownLatch(1);
		held.lock();
		held.onLoss(lost::countDown);
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Boolean> second = b.run(() -> {
			lock.lock();
			return true;
		});
		await().until(() -> waiting("l") == 1);

		a.cutOff(true);
		while (!second.isDone() && held.isHeld()) {
			Thread.onSpinWait();
		}
		assertThat(held.isHeld()).as("certain while another one is granted").isFalse();
		assertThat(lost.getCount()).isEqualTo(1);
		assertThat(second.get(30, TimeUnit.SECONDS)).isTrue();
		assertThat(held.isHeld()).isFalse();
		a.cutOff(false);

		assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
		assertThat(held.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::lock)
			.withMessageContaining("'l' was lost")
			.withMessageContaining("Unlock it");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::unlock);
		assertThat(held.tryLock(10, TimeUnit.MILLISECONDS)).as("the other one holds it").isFalse();
	}

	@Test
	void lockIsHeldAgainWhenTheSameSessionHasItsLeaseBack() {
		ClusterInstance a = instance(
				new ClusterInstance("a", this.store, this.cluster, ClusterInstance.LEASE, Duration.ofMinutes(1)));
		ClusterInstance b = instance("b");
		ClusterLock lock = a.locks().get("l");
		ClusterLock other = b.locks().get("l");
		lock.lock();
		Token token = lock.token();
		a.cutOff(true);
		await().until(() -> !lock.isHeld());

		assertThat(other.tryLock()).isFalse();
		a.cutOff(false);

		await().until(lock::isHeld);
		assertThat(lock.token()).isEqualTo(token);
		lock.unlock();
		assertThat(other.tryLock()).isTrue();
	}

	@Test
	void waitingOutlastsAnOutage() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Boolean> second = b.run(() -> {
			lock.lock();
			return lock.isHeld();
		});
		await().until(() -> waiting("l") == 1);
		b.cutOff(true);
		await().until(() -> b.session().member() == null);
		held.unlock();

		b.cutOff(false);

		assertThat(second.get(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void lostMessageDelaysOnly() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		ClusterLock lock = b.locks().get("l");
		b.deaf(true);
		CompletableFuture<Boolean> second = b.run(() -> {
			lock.lock();
			return lock.isHeld();
		});
		await().until(() -> waiting("l") == 1);

		held.unlock();

		assertThat(second.get(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void lockThatTheStoreHasLostIsLost() throws Exception {
		ClusterInstance a = instance("a");
		ClusterLock lock = a.locks().get("l");
		await().until(() -> a.session().member() != null);
		Object before = MemoryFailover.snapshot(this.store);
		lock.lock();
		CountDownLatch lost = new CountDownLatch(1);
		lock.onLoss(lost::countDown);
		instance("b").view();
		await().until(() -> a.view().size() == 2);

		MemoryFailover.loseWritesSince(this.store, before);
		this.cluster.closeSubscriptions();

		assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
		assertThat(lock.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
	}

	@Test
	void unlockDuringAnOutageIsMadeUpFor() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Boolean> second = b.run(() -> {
			lock.lock();
			return true;
		});
		await().until(() -> waiting("l") == 1);
		a.cutOff(true);

		held.unlock();
		a.cutOff(false);

		assertThat(second.get(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void tryLockEndsWithItsTime() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		ClusterLock other = b.locks().get("l");
		held.lock();

		assertThat(other.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(other.tryLock(-1, TimeUnit.MILLISECONDS)).isFalse();
		assertThat(waiting("l")).isZero();
		held.unlock();

		assertThat(other.tryLock(30, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void tryLockWithoutASessionSaysSo() throws Exception {
		ClusterInstance a = instance("a");
		ClusterLock lock = a.locks().get("l");
		lock.lock();
		lock.unlock();
		a.cutOff(true);
		await().until(() -> a.session().member() == null);

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(lock::tryLock)
			.withMessageContaining("no session in group 'group'")
			.withMessageContaining("'l'");
		assertThat(lock.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
	}

	@Test
	void tryLockInASessionThatTheStoreDoesNotKnowSaysSo() {
		ClusterInstance a = instance("a");
		LockStore unaware = new ForwardingLockStore(new MemoryLockStore(this.cluster)) {

			@Override
			public Reply acquire(Request request) {
				return Reply.NO_SESSION;
			}

		};
		ClusterLock lock = new StoredLocks(a.session(), unaware).get("l");
		await().until(() -> a.session().member() != null);

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(lock::tryLock)
			.withMessageContaining("no session in group 'group'");
	}

	@Test
	void grantFromBeforeALossOfWritesIsVerified() {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		AtomicInteger questions = new AtomicInteger();
		StoredLocks locks = new StoredLocks(b.session(), new ForwardingLockStore(new MemoryLockStore(this.cluster)) {

			@Override
			public Reply acquire(Request request) {
				questions.incrementAndGet();
				return super.acquire(request);
			}

		});
		await().until(() -> b.session().member() != null);
		LockRequest request = locks.begin("l", Duration.ZERO, Duration.ZERO, true, () -> {
		});
		assertThat(request.attempt()).isNull();
		held.unlock();
		await().until(request::isWoken);
		int before = questions.get();

		locks.writesMayBeLost();
		locks.catchUp(b.member(), ViewStore.Reply.UNKNOWN);

		assertThat(request.attempt()).isNotNull();
		assertThat(questions.get()).isGreaterThan(before);
	}

	@Test
	void timesMayBeVeryLong() {
		ClusterLocks locks = instance("a").locks();
		Duration longest = Duration.ofSeconds(Long.MAX_VALUE);
		ClusterLock lock = locks.get("l", longest, longest);

		lock.lock();

		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void waitEndsWhenTheInstanceStops() throws Exception {
		ClusterInstance a = instance("a");
		ClusterInstance b = instance("b");
		ClusterLock held = a.locks().get("l");
		held.lock();
		ClusterLock lock = b.locks().get("l");
		CompletableFuture<Boolean> waits = CompletableFuture.supplyAsync(() -> {
			lock.lock();
			return true;
		}, (task) -> new Thread(task, "waiting").start());
		await().until(() -> waiting("l") == 1);

		b.close();

		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waits.get(30, TimeUnit.SECONDS))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining(
					"Cannot acquire the lock 'l' before the application has started, or after it has stopped");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(lock::lock);
	}

	@Test
	void viewHasNoIndexWithoutTheLease() {
		ClusterInstance a = instance("a");
		ClusterView view = a.view();
		await().until(() -> view.current().index().isPresent());

		a.cutOff(true);

		await().until(() -> view.current().index().isEmpty());
		assertThat(view.size()).isEqualTo(1);
		assertThat(view.isMine(0)).isFalse();
		a.cutOff(false);
		await().until(() -> view.current().index().isPresent() && view.isMine(7));
	}

	@Test
	void interruptionEndsTheWait() throws Exception {
		ClusterInstance a = instance("a");
		ClusterLock lock = a.locks().get("l");
		lock.lock();
		AtomicInteger interrupted = new AtomicInteger();
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		CompletableFuture<Boolean> waits = a.run(() -> {
			thread.complete(Thread.currentThread());
			try {
				lock.lockInterruptibly();
			}
			catch (InterruptedException ex) {
				interrupted.incrementAndGet();
			}
			lock.lock();
			return Thread.currentThread().isInterrupted();
		});
		await().until(() -> waiting("l") == 1);

		thread.get().interrupt();
		await().until(() -> interrupted.get() == 1 && waiting("l") == 1);
		thread.get().interrupt();
		lock.unlock();

		assertThat(waits.get(30, TimeUnit.SECONDS)).as("lock() keeps the interruption for later").isTrue();
	}

	@Test
	void otherThreadCannotUnlock() {
		ClusterInstance a = instance("a");
		ClusterLock lock = a.locks().get("l");
		lock.lock();

		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> a.run(() -> {
			lock.unlock();
			return true;
		}).get(30, TimeUnit.SECONDS))
			.withCauseInstanceOf(IllegalMonitorStateException.class)
			.withMessageContaining("has not acquired the lock 'l'");
		assertThat(lock.isHeld()).isTrue();
		lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::token);
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	void lockIsLostAfterItsMostTime() throws Exception {
		ClusterLocks locks = instance("a").locks();
		ClusterLocks others = instance("b").locks();
		ClusterLock lock = locks.get("l", Duration.ZERO, Duration.ofMillis(200));
		CountDownLatch lost = new CountDownLatch(1);
		lock.lock();
		lock.onLoss(lost::countDown);

		others.get("l").lock();

		assertThat(lock.isHeld()).isFalse();
		assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		assertThat(others.get("l").isHeld()).isTrue();
		others.get("l").unlock();
	}

	@Test
	void nobodyGetsItBeforeItsLeastTime() {
		ClusterLocks locks = instance("a").locks();
		ClusterLocks others = instance("b").locks();
		ClusterLock lock = locks.get("l", Duration.ofMillis(300), Duration.ZERO);
		long begun = System.nanoTime();
		lock.lock();
		lock.unlock();

		others.get("l").lock();

		assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofMillis(299));
	}

	@Test
	void listenerToALossThatFailsIsHarmless() throws Exception {
		ClusterLock lock = instance("a").locks().get("l", Duration.ZERO, Duration.ofMillis(50));
		CountDownLatch called = new CountDownLatch(1);
		lock.lock();
		lock.onLoss(() -> {
			called.countDown();
			throw new IllegalStateException("expected by a test");
		});

		assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
		CountDownLatch late = new CountDownLatch(1);
		lock.onLoss(late::countDown);
		assertThat(late.await(30, TimeUnit.SECONDS)).as("is lost already").isTrue();
	}

	@Test
	void incrementsUnderTheLockAreNotLost() {
		int[] counter = { 0 };
		List<Token> tokens = new ArrayList<>();
		List<CompletableFuture<?>> all = new ArrayList<>();
		for (String name : List.of("a", "b", "c", "d")) {
			ClusterInstance instance = instance(name);
			ClusterLocks locks = instance.locks();
			for (int thread = 0; thread < 2; thread++) {
				all.add(instance.run(() -> {
					for (int i = 0; i < 250; i++) {
						ClusterLock lock = locks.get("counter");
						lock.lock();
						try {
							counter[0]++;
							tokens.add(lock.token());
						}
						finally {
							lock.unlock();
						}
					}
					return true;
				}));
			}
		}

		await().atMost(Duration.ofMinutes(3)).until(() -> all.stream().allMatch(CompletableFuture::isDone));
		assertThat(all).noneMatch(CompletableFuture::isCompletedExceptionally);
		assertThat(counter[0]).isEqualTo(2000);
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "{a}", "a|b", "a/b", "ü" })
	void nameThatCannotBePartOfAKeyIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> instance("a").locks().get(name))
			.withMessageContaining("'" + name + "'")
			.withMessageContaining("letters, digits");
	}

	@Test
	void timesThatMakeNoSenseAreRefused() {
		ClusterLocks locks = instance("a").locks();

		assertThatIllegalArgumentException().isThrownBy(() -> locks.get("l", Duration.ofMillis(-1), Duration.ZERO))
			.withMessageContaining("not negative");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> locks.get("l", Duration.ofSeconds(2), Duration.ofSeconds(1)))
			.withMessageContaining("shorter 'atLeast'");
	}

	private ClusterInstance instance(String name) {
		return instance(new ClusterInstance(name, this.store, this.cluster));
	}

	private ClusterInstance instance(ClusterInstance instance) {
		this.instances.add(instance);
		return instance;
	}

	private static ConditionFactory await() {
		// Holds belong to the test's thread.
		return Awaitility.await().pollInSameThread().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
	}

	private static class ForwardingLockStore implements LockStore {

		private final LockStore store;

		ForwardingLockStore(LockStore store) {
			this.store = store;
		}

		@Override
		public Reply acquire(Request request) {
			return this.store.acquire(request);
		}

		@Override
		public boolean release(MemberId session, String lock, String ticket) {
			return this.store.release(session, lock, ticket);
		}

		@Override
		public Set<String> check(Map<String, String> waiting) {
			return this.store.check(waiting);
		}

		@Override
		public Map<String, String> held(MemberId session) {
			return this.store.held(session);
		}

	}

}
