package io.github.shardkeeper.cluster.lock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterExclusive.WhenHeld;
import io.github.shardkeeper.cluster.ClusterInstance;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.memory.MemoryCluster;
import io.github.shardkeeper.cluster.memory.MemoryLocks;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** {@code @ClusterExclusive} methods of beans. */
@CapturesOutput
class ExclusiveCallsTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final MemoryCluster cluster = MemoryCluster.of(this.store);

	private final ClusterInstance instance = new ClusterInstance("a", this.store, this.cluster);

	private final ClusterInstance other = new ClusterInstance("b", this.store, this.cluster);

	private final ClusterLocks locks = this.instance.locks();

	private final ClusterLocks others = this.other.locks();

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	/** A method that does not wait fails without a session. */
	@BeforeEach
	void awaitSessions() {
		Awaitility.await()
			.until(() -> this.instance.session().member() != null && this.other.session().member() != null);
	}

	@AfterEach
	void close() {
		this.context.close();
		this.instance.close();
		this.other.close();
	}

	@Test
	void methodRunsUnderItsLock() throws Exception {
		Jobs jobs = start(Jobs.class);
		this.locks.get("first").lock();
		this.locks.get("first").unlock();

		assertThat(jobs.reply(() -> this.others.get("job").tryLock())).isEqualTo("false");
		assertThat(this.others.get("job").tryLock()).as("afterwards").isTrue();
	}

	@Test
	void heldLockSkipsTheCall() throws Exception {
		Jobs jobs = start(Jobs.class);
		this.others.get("job").lock();
		this.locks.get("first").lock();

		assertThat(jobs.reply(() -> true)).isNull();
		this.others.get("job").unlock();
		assertThat(jobs.reply(() -> true)).isEqualTo("true");
	}

	@Test
	void lockIsReleasedWhenTheMethodFails() {
		Jobs jobs = start(Jobs.class);
		this.locks.get("first").lock();

		assertThatIllegalStateException().isThrownBy(() -> jobs.reply(() -> {
			throw new IllegalStateException("expected by a test");
		})).withMessage("expected by a test");
		assertThat(this.others.get("job").tryLock()).isTrue();
	}

	@Test
	void waitingCallRunsWhenTheLockIsFree() throws Exception {
		Jobs jobs = start(Jobs.class);
		this.others.get("waiting").lock();
		CompletableFuture<Integer> waits = this.instance.run(jobs::waiting);
		Awaitility.await().until(() -> this.store.transition((group) -> MemoryLocks.waiting(group, "waiting")) == 1);

		this.others.get("waiting").unlock();

		assertThat(waits.get(30, TimeUnit.SECONDS)).isEqualTo(7);
	}

	@Test
	void waitingCallGivesUp() {
		Jobs jobs = start(Jobs.class);
		this.others.get("patient-for-a-while").lock();

		assertThatIllegalStateException().isThrownBy(() -> jobs.patient("a-while"))
			.withMessageContaining("Jobs.patient()")
			.withMessageContaining("'patient-for-a-while'")
			.withCauseInstanceOf(TimeoutException.class);
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> jobs.declared("a-while"));
	}

	@Test
	void nameThatIsNotValidIsRefused() {
		Jobs jobs = start(Jobs.class);

		assertThatIllegalArgumentException().isThrownBy(() -> jobs.patient("a while"))
			.withMessageContaining("'patient-for-a while'");
		assertThatIllegalArgumentException().isThrownBy(() -> jobs.tenantOf(null))
			.withMessageContaining("Jobs.tenantOf()")
			.withMessageContaining("has no value");
	}

	@Test
	void nameMayHavePlaceholders() throws Exception {
		Jobs jobs = start(Jobs.class);

		jobs.tenant(() -> assertThat(this.others.get("job-of-blue").tryLock()).isFalse());
		assertThat(this.others.get("job-of-blue").tryLock()).isTrue();
	}

	@Test
	void scheduledMethodIsExclusive() {
		this.others.get("scheduled").lock();
		start(ScheduledJob.class, WithScheduling.class);
		ScheduledJob job = this.context.getBean(ScheduledJob.class);
		Awaitility.await().until(() -> this.instance.session().member() != null);
		assertThat(job.runs()).isEmpty();

		this.others.get("scheduled").unlock();

		Awaitility.await().until(() -> job.runs().size() >= 2);
		assertThat(job.runs()).containsOnly(true);
	}

	@Test
	void callWithoutASessionIsSkippedAndSaysSoOnce(CapturedOutput output) throws Exception {
		Jobs jobs = start(Jobs.class);
		this.instance.cutOff(true);
		Awaitility.await().until(() -> this.instance.session().member() == null);

		assertThat(jobs.other()).isNull();
		assertThat(jobs.other()).isNull();

		assertThat(output)
			.containsOnlyOnce("Skipped @ClusterExclusive method Jobs.other(): This instance has no session in group");
		this.instance.cutOff(false);
		Awaitility.await().until(() -> this.instance.session().member() != null);
		assertThat(jobs.other()).isEqualTo("other");
	}

	@Test
	void finalMethodOfAProxyIsRefused() {
		this.context.registerBean(BeanNameAutoProxyCreator.class, () -> {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("finalMethod");
			creator.setInterceptorNames("interceptor");
			creator.setProxyTargetClass(true);
			creator.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return creator;
		});
		this.context.registerBean("interceptor", MethodInterceptor.class, () -> MethodInvocation::proceed);
		this.context.registerBean("finalMethod", FinalMethod.class);

		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(Jobs.class))
			.withMessageContaining("@ClusterExclusive method FinalMethod.run() or its class is final");
	}

	@Test
	void methodThatCannotBeSkippedIsRefused() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(Primitive.class))
			.withMessageContaining("Primitive.count() returns 'int'")
			.withMessageContaining("WhenHeld.WAIT");
	}

	@Test
	void textThatIsNoTimeIsRefused() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(NoTime.class))
			.withMessageContaining("atMost = \"soon\"")
			.withMessageContaining("\"30s\"");
	}

	@Test
	void timesThatContradictEachOtherAreNamedAsTheyAreWritten() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(Contradicting.class))
			.withMessageContaining("atLeast 2h and atMost 90s");
	}

	@Test
	void propertyThatIsMissingIsRefusedAtTheStartWithTheMethod() {
		this.context.getBeanFactory()
			.addEmbeddedValueResolver(this.context.getEnvironment()::resolveRequiredPlaceholders);

		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(NoProperty.class))
			.withMessageContaining("NoProperty.run() has '${no.such.property}', which cannot be resolved")
			.withMessageContaining("Set the property");
	}

	@Test
	void nameThatIsNoKeyIsRefusedAtTheStart() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(NoName.class))
			.withMessageContaining("'{braces}'");
	}

	@ParameterizedTest
	@ValueSource(classes = { FinalMethod.class, FinalClass.class, PrivateMethod.class, StaticMethod.class })
	void methodThatCannotBeInterceptedIsRefused(Class<?> type) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(type))
			.withMessageContaining(type.getSimpleName() + ".run()")
			.withMessageContaining("cannot be intercepted");
	}

	@ParameterizedTest
	@ValueSource(classes = { AsyncMethod.class, FutureResult.class })
	void asynchronousMethodIsRefused(Class<?> type) {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> start(type))
			.withMessageContaining(type.getSimpleName() + ".run()")
			.withMessageContaining("the lock would be released before its work is done");
	}

	@Test
	void stopWaitsForTheRunningCallAndBeginsNoOther() throws Exception {
		Jobs jobs = start(Jobs.class);
		this.locks.get("first").lock();
		this.locks.get("first").unlock();
		ExclusiveCallsLifecycle lifecycle = new ExclusiveCallsLifecycle(
				this.context.getBean(ExclusiveCallsPostProcessor.class), Duration.ofSeconds(60), 0);
		lifecycle.start();
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		CompletableFuture<String> running = this.instance.run(() -> jobs.reply(() -> {
			begun.countDown();
			return released.await(60, TimeUnit.SECONDS);
		}));
		assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

		Thread stopping = new Thread(lifecycle::stop, "stopping");
		stopping.start();
		Awaitility.await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		assertThat(jobs.other()).as("a call after the stop has begun").isNull();
		assertThatIllegalStateException().isThrownBy(jobs::waiting).withMessageContaining("stops");
		assertThat(running).isNotDone();
		released.countDown();

		assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("true");
		stopping.join(30_000);
		assertThat(stopping.isAlive()).isFalse();
		lifecycle.start();
		assertThat(jobs.other()).isEqualTo("other");
	}

	@Test
	void callThatWaitsForTheLockDoesNotDelayAStopAndDoesNotBeginAfterIt() throws Exception {
		Jobs jobs = start(Jobs.class);
		ExclusiveCallsLifecycle lifecycle = new ExclusiveCallsLifecycle(
				this.context.getBean(ExclusiveCallsPostProcessor.class), Duration.ofSeconds(60), 0);
		lifecycle.start();
		this.others.get("waiting").lock();
		CompletableFuture<Integer> waits = this.instance.run(jobs::waiting);
		Awaitility.await().until(() -> this.store.transition((group) -> MemoryLocks.waiting(group, "waiting")) == 1);

		Thread stopping = new Thread(lifecycle::stop, "stopping");
		stopping.start();
		stopping.join(10_000);

		assertThat(stopping.isAlive()).isFalse();
		this.others.get("waiting").unlock();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waits.get(10, TimeUnit.SECONDS))
			.withCauseInstanceOf(IllegalStateException.class)
			.withMessageContaining("stops");
		assertThat(this.others.get("waiting").tryLock(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void interruptedCallThatWaitsThrowsWhatItsMethodMayThrow() throws Exception {
		Jobs jobs = start(Jobs.class);
		this.others.get("waiting").lock();
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		CompletableFuture<Boolean> waits = this.instance.run(() -> {
			thread.complete(Thread.currentThread());
			assertThatIllegalStateException().isThrownBy(jobs::waiting)
				.withMessageContaining("Jobs.waiting()")
				.withMessageContaining("interrupted")
				.withCauseInstanceOf(InterruptedException.class);
			return Thread.interrupted();
		});
		Awaitility.await().until(() -> this.store.transition((group) -> MemoryLocks.waiting(group, "waiting")) == 1);

		thread.get().interrupt();

		assertThat(waits.get(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void stopGivesUpAtItsTimeout() throws Exception {
		Jobs jobs = start(Jobs.class);
		ExclusiveCallsLifecycle lifecycle = new ExclusiveCallsLifecycle(
				this.context.getBean(ExclusiveCallsPostProcessor.class), Duration.ofMillis(20), 0);
		lifecycle.start();
		this.locks.get("first").lock();

		assertThat(jobs.reply(() -> {
			lifecycle.stop();
			return lifecycle.isRunning();
		})).isEqualTo("false");
	}

	@Test
	void longerThanAtMostIsReportedAndReturns() {
		Jobs jobs = start(Jobs.class);

		assertThat(jobs.tooLong(() -> this.others.get("too-long").lock())).isEqualTo("done");
		this.others.get("too-long").unlock();
	}

	private <T> T start(Class<T> bean, Class<?>... more) {
		this.context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("test", Map.of("tenant", "blue")));
		this.context.registerBean(ExclusiveCallsPostProcessor.class,
				() -> new ExclusiveCallsPostProcessor(() -> this.locks));
		this.context.register(bean);
		for (Class<?> type : more) {
			this.context.register(type);
		}
		this.context.refresh();
		return this.context.getBean(bean);
	}

	static class Jobs {

		@ClusterExclusive("job")
		@Nullable String reply(Callable<Boolean> inside) throws Exception {
			return String.valueOf(inside.call());
		}

		@ClusterExclusive("other")
		@Nullable String other() {
			return "other";
		}

		@ClusterExclusive(value = "waiting", whenHeld = WhenHeld.WAIT)
		int waiting() {
			return 7;
		}

		@ClusterExclusive(value = "patient-for-#{#a0}", whenHeld = WhenHeld.WAIT, waitAtMost = "20ms")
		void patient(@Nullable String name) {
		}

		@ClusterExclusive(value = "patient-for-#{#p0}", whenHeld = WhenHeld.WAIT, waitAtMost = "20ms")
		void declared(String name) throws TimeoutException {
		}

		@ClusterExclusive("job-of-${tenant}")
		void tenant(Runnable inside) {
			inside.run();
		}

		@ClusterExclusive("#{#a0}")
		void tenantOf(@Nullable String name) {
		}

		@ClusterExclusive(value = "too-long", atMost = "100ms", whenHeld = WhenHeld.WAIT)
		String tooLong(Runnable inside) {
			inside.run();
			return "done";
		}

	}

	@EnableScheduling
	static class WithScheduling {

	}

	static class ScheduledJob {

		private final List<Boolean> runs = new CopyOnWriteArrayList<>();

		List<Boolean> runs() {
			return this.runs;
		}

		@Scheduled(fixedDelay = 5)
		@ClusterExclusive("scheduled")
		public void run() {
			this.runs.add(true);
		}

	}

	static class FinalMethod {

		@ClusterExclusive("job")
		final void run() {
		}

	}

	static final class FinalClass {

		@ClusterExclusive("job")
		void run() {
		}

	}

	static class PrivateMethod {

		@ClusterExclusive("job")
		private void run() {
		}

	}

	static class StaticMethod {

		@ClusterExclusive("job")
		static void run() {
		}

	}

	static class AsyncMethod {

		@Async
		@ClusterExclusive("job")
		void run() {
		}

	}

	static class FutureResult {

		@ClusterExclusive("job")
		CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("done");
		}

	}

	static class Primitive {

		@ClusterExclusive("count")
		int count() {
			return 1;
		}

	}

	static class Contradicting {

		@ClusterExclusive(value = "x", atLeast = "2h", atMost = "90s")
		void run() {
		}

	}

	static class NoProperty {

		@ClusterExclusive(value = "x", atMost = "${no.such.property}")
		void run() {
		}

	}

	static class NoTime {

		@ClusterExclusive(value = "job", atMost = "soon")
		void run() {
		}

	}

	static class NoName {

		@ClusterExclusive("{braces}")
		void run() {
		}

	}

}
