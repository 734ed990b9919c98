package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.SignalDelivery;
import io.github.shardkeeper.cluster.SignalResult;
import io.github.shardkeeper.cluster.signal.SignalInstance.Recorder;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Signals between instances of one group, which every store must carry. Nothing here
 * sleeps; what must not happen is followed by something that must.
 */
public abstract class ClusterSignalsContract {

	private static final Duration PATIENCE = SignalInstance.PATIENCE;

	private final List<SignalInstance> instances = new ArrayList<>();

	private final List<Recorder> recorders = new ArrayList<>();

	/**
	 * Opens the stores of another instance.
	 * @return the stores, on the same group as all others of this test
	 */
	protected abstract SignalStores openStores();

	@AfterEach
	final void closeInstances() {
		this.recorders.forEach(Recorder::open);
		this.instances.forEach(SignalInstance::close);
	}

	/** Returns an instance that has not joined yet. */
	final SignalInstance instance(String name) {
		return instance(name, Duration.ZERO);
	}

	/** Returns one whose application was started some time ago. */
	private SignalInstance instance(String name, Duration startedBefore) {
		SignalInstance instance = new SignalInstance(name, openStores(), startedBefore);
		this.instances.add(instance);
		return instance;
	}

	final Recorder recorder() {
		return recorder(false);
	}

	private Recorder recorder(boolean atStart) {
		Recorder recorder = new Recorder("rebuild", atStart);
		this.recorders.add(recorder);
		return recorder;
	}

	@Test
	void everyInstanceHandlesASignal() throws Exception {
		Recorder first = recorder();
		Recorder second = recorder();
		SignalInstance a = instance("a").start(first);
		SignalInstance b = instance("b").start(second);

		SignalResult result = a.signals.send("rebuild", "hello").awaitAll(PATIENCE);

		assertThat(result.complete()).isTrue();
		assertThat(result.handled()).containsExactly(a.member(), b.member());
		assertThat(result.failed()).isEmpty();
		assertThat(result.pending()).isEmpty();
		assertThat(result.gone()).isEmpty();
		assertThat(first.rest()).containsExactly("hello");
		assertThat(second.rest()).containsExactly("hello");
	}

	@Test
	void senderNeedsNeitherHandlerNorSession() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender");

		SignalResult result = sender.signals.send("rebuild").awaitAll(PATIENCE);

		assertThat(result.handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("");
	}

	@Test
	void numbersGrow() {
		SignalInstance a = instance("a");
		long first = a.signals.send("rebuild", "1").number();
		long second = a.signals.send("other", "2").number();

		assertThat(a.signals.send("rebuild", "3").number()).isGreaterThan(second);
		assertThat(second).isGreaterThan(first).isPositive();
	}

	@Test
	void payloadsOfAllKindsArriveAsText() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);

		for (Object payload : List.of("a|b|c", "zwei\nZeilen", "ünï©ødé \uD83D\uDE00", "{}", 17,
				Map.of("key", "value"))) {
			a.signals.send("rebuild", payload).awaitAll(PATIENCE);
		}

		assertThat(recorder.rest()).containsExactly("a|b|c", "zwei\nZeilen", "ünï©ødé \uD83D\uDE00", "{}", "17",
				"{\"key\":\"value\"}");
	}

	@Test
	void busyInstanceHandlesOnlyTheLatestOfMissedSignals() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		recorder.shut();
		SignalDelivery first = a.signals.send("rebuild", "1");
		recorder.awaitBegun();
		a.signals.send("rebuild", "2");
		SignalDelivery third = a.signals.send("rebuild", "3");
		SignalDelivery last = a.signals.send("rebuild", "4");
		recorder.open();

		assertThat(last.awaitAll(PATIENCE).handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("1", "4");
		assertThat(recorder.overlapped).isFalse();
		assertThat(first.awaitAll(PATIENCE).handled()).containsExactly(a.member());
		assertThat(third.awaitAll(PATIENCE).handled()).containsExactly(a.member());
	}

	@Test
	void handlersOfOneNameRunOneAfterTheOther() throws Exception {
		Recorder first = recorder();
		Recorder second = recorder();
		SignalInstance a = instance("a").start(first, second);
		first.shut();
		SignalDelivery delivery = a.signals.send("rebuild", "1");
		first.awaitBegun();
		assertThat(second.rest()).isEmpty();
		first.open();

		assertThat(delivery.awaitAll(PATIENCE).complete()).isTrue();
		assertThat(second.rest()).containsExactly("1");
	}

	@Test
	void waitForASupersededSignalEndsWithTheLaterOne() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender").start();
		recorder.shut();
		a.signals.send("rebuild", "1");
		recorder.awaitBegun();
		SignalDelivery second = sender.signals.send("rebuild", "2");
		CompletableFuture<SignalResult> waiting = sender.awaitAll(second);
		a.signals.send("rebuild", "3");
		recorder.open();

		assertThat(waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("1", "3");
	}

	@Test
	void senderHearsWhoFailedAndWhy() throws Exception {
		Recorder failing = recorder();
		failing.failure = "no space | left\non device";
		SignalInstance a = instance("a").start(failing);
		SignalInstance b = instance("b").start(recorder());

		SignalResult result = b.signals.send("rebuild").awaitAll(PATIENCE);

		assertThat(result.complete()).isFalse();
		assertThat(result.handled()).containsExactly(b.member());
		assertThat(result.failed()).containsOnlyKeys(a.member());
		assertThat(result.failed().get(a.member())).contains("Recorder.handle", "no space | left on device");
	}

	@Test
	void failedSignalIsNotRepeatedAndTheNextOneIsHandled() throws Exception {
		Recorder recorder = recorder();
		recorder.failure = "broken";
		SignalInstance a = instance("a").start(recorder);
		assertThat(a.signals.send("rebuild", "1").awaitAll(PATIENCE).failed()).hasSize(1);
		recorder.failure = "";
		a.losesSession();

		// Its new session may not listen yet, so there may be nobody to wait for.
		a.signals.send("rebuild", "2");
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(recorder.rest()).containsExactly("1", "2"));
	}

	@Test
	void handlerThatFailsDoesNotKeepOthersFromRunning() throws Exception {
		Recorder failing = recorder();
		failing.failure = "broken";
		Recorder other = recorder();
		SignalInstance a = instance("a").start(failing, other);

		assertThat(a.signals.send("rebuild", "1").awaitAll(PATIENCE).failed()).containsOnlyKeys(a.member());

		assertThat(other.rest()).containsExactly("1");
	}

	@Test
	void lateStarterThatWantsEarlierSignalsHandlesTheLatestWithinItsRetention() throws Exception {
		SignalInstance sender = instance("sender").start();
		sender.signals.send("rebuild", "1");
		SignalDelivery latest = sender.signals.send("rebuild", "2");
		Recorder recorder = recorder(true);

		SignalInstance late = instance("late").start(recorder);

		assertThat(latest.await(1, PATIENCE).handled()).containsExactly(late.member());
		assertThat(recorder.rest()).containsExactly("2");
	}

	@Test
	void lateStarterDoesNotRepeatEarlierSignals() throws Exception {
		SignalInstance sender = instance("sender").start();
		SignalDelivery past = sender.signals.send("rebuild", "past");
		Recorder recorder = recorder();
		SignalInstance late = instance("late", Duration.ofMinutes(-1)).start(recorder);

		SignalResult result = past.awaitAll(PATIENCE);
		assertThat(result.complete()).as("nobody has to handle it").isTrue();
		late.losesSession();
		// Its start is still to come, so whatever it finds when it listens again is over.
		late.awaitListening("rebuild");
		assertThat(sender.signals.send("rebuild", "next").await(1, PATIENCE).handled()).containsExactly(late.member());
		assertThat(recorder.rest()).containsExactly("next");
	}

	/** What its beans have read since may be outdated. */
	@Test
	void signalThatWasSentDuringTheStartIsHandled() throws Exception {
		SignalInstance sender = instance("sender").start();
		SignalInstance starting = instance("starting", Duration.ofMinutes(1));
		SignalDelivery delivery = sender.signals.send("rebuild", "1");
		Recorder recorder = recorder();

		starting.start(recorder);

		assertThat(delivery.await(1, PATIENCE).handled()).containsExactly(starting.member());
		assertThat(recorder.rest()).containsExactly("1");
	}

	@Test
	void lateStarterIgnoresASignalWhoseRetentionIsOver() throws Exception {
		SignalInstance sender = instance("sender").start();
		SignalDelivery past = sender.signals.send("rebuild", "past", Duration.ZERO);
		Recorder recorder = recorder(true);
		SignalInstance late = instance("late").start(recorder);

		SignalResult result = past.awaitAll(PATIENCE);
		assertThat(result.handled()).isEmpty();
		assertThat(result.pending()).isEmpty();

		assertThat(sender.signals.send("rebuild", "next", Duration.ZERO).awaitAll(PATIENCE).handled())
			.containsExactly(late.member());
		assertThat(recorder.rest()).containsExactly("next");
	}

	@Test
	@Tag("proof")
	void instanceThatWasThereHandlesASignalWithoutRetentionAlthoughTheMessageIsLost() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		a.deaf = true;

		SignalResult result = a.signals.send("rebuild", "1", Duration.ZERO).awaitAll(PATIENCE);

		assertThat(result.handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("1");
	}

	@Test
	void sessionChangeRepeatsNothing() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender").start();
		SignalDelivery first = sender.signals.send("rebuild", "1");
		MemberId before = a.member();
		assertThat(first.awaitAll(PATIENCE).handled()).containsExactly(before);

		a.losesSession();

		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> first.awaitAll(Duration.ZERO).handled().equals(List.of(a.member())));
		assertThat(sender.signals.send("rebuild", "2").awaitAll(PATIENCE).handled()).containsExactly(a.member());
		assertThat(a.member()).isNotEqualTo(before);
		assertThat(recorder.rest()).containsExactly("1", "2");
	}

	@Test
	void signalThatWasMissedBetweenTwoSessionsIsHandled() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender").start();
		a.leave();
		sender.signals.send("rebuild", "1");
		SignalDelivery second = sender.signals.send("rebuild", "2");
		a.start();

		assertThat(second.await(1, PATIENCE).handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("2");
	}

	@Test
	void sessionThatEndsIsNoLongerAwaited() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance b = instance("b").start(recorder());
		MemberId gone = a.member();
		recorder.shut();
		SignalDelivery delivery = b.signals.send("rebuild");
		recorder.awaitBegun();
		CompletableFuture<SignalResult> waiting = b.awaitAll(delivery);
		assertThat(delivery.awaitAll(Duration.ZERO).pending()).contains(gone);
		a.leave();

		SignalResult result = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		assertThat(result.gone()).containsExactly(gone);
		assertThat(result.pending()).isEmpty();
		assertThat(result.handled()).containsExactly(b.member());
		assertThat(result.complete()).isTrue();
	}

	@Test
	void waitForANumberEndsWithThatNumber() throws Exception {
		Recorder slow = recorder();
		SignalInstance a = instance("a").start(slow);
		SignalInstance b = instance("b").start(recorder());
		slow.shut();

		SignalResult result = b.signals.send("rebuild").await(1, PATIENCE);

		assertThat(result.complete()).isTrue();
		assertThat(result.handled()).containsExactly(b.member());
		assertThat(result.pending()).containsExactly(a.member());
	}

	@Test
	void waitForANumberEndsWhenAllHaveAnsweredAndSomeFailed() throws Exception {
		Recorder failing = recorder();
		failing.failure = "broken";
		SignalInstance a = instance("a").start(failing);
		SignalInstance b = instance("b").start(recorder());

		SignalResult result = b.signals.send("rebuild").await(2, PATIENCE);

		assertThat(result.complete()).isFalse();
		assertThat(result.handled()).containsExactly(b.member());
		assertThat(result.failed()).containsOnlyKeys(a.member());
	}

	@Test
	void waitForMoreInstancesThanThereAreEndsInTime() throws Exception {
		SignalInstance a = instance("a").start(recorder());

		SignalResult result = a.signals.send("rebuild").await(2, Duration.ofMillis(500));

		assertThat(result.complete()).isFalse();
		assertThat(result.handled().size() + result.pending().size()).isEqualTo(1);
	}

	@Test
	void waitWithoutListenersReturnsAtOnce() throws Exception {
		assertThat(instance("a").signals.send("nobody").awaitAll(PATIENCE).complete()).isTrue();
	}

	@Test
	void waitThatTimesOutNamesWhoIsPending() throws Exception {
		Recorder slow = recorder();
		SignalInstance a = instance("a").start(slow);
		slow.shut();

		SignalResult result = a.signals.send("rebuild").awaitAll(Duration.ofMillis(200));

		assertThat(result.complete()).isFalse();
		assertThat(result.pending()).containsExactly(a.member());
	}

	@Test
	void waitIsInterruptible() throws Exception {
		Recorder slow = recorder();
		SignalInstance a = instance("a").start(slow);
		slow.shut();
		SignalDelivery delivery = a.signals.send("rebuild");
		Thread.currentThread().interrupt();

		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> delivery.awaitAll(PATIENCE));
	}

	@Test
	void acknowledgementIsRepeatedUntilTheStoreHasIt() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender").start();
		recorder.shut();
		SignalDelivery delivery = sender.signals.send("rebuild", "1");
		recorder.awaitBegun();
		a.storeAway = true;
		recorder.open();
		Awaitility.await().atMost(PATIENCE).until(() -> a.storeFailures.get() > 1);
		a.storeAway = false;

		assertThat(delivery.awaitAll(PATIENCE).handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("1");
	}

	@Test
	void sendAndWaitFailWhileTheStoreIsAway() {
		SignalInstance a = instance("a");
		SignalDelivery delivery = a.signals.send("rebuild");
		a.storeAway = true;

		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> a.signals.send("rebuild"));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> delivery.awaitAll(Duration.ofMillis(300)));
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> delivery.await(1, Duration.ZERO));
	}

	@Test
	void stopWaitsForTheRunningHandlerAndBeginsNoOther() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		SignalInstance sender = instance("sender").start();
		recorder.shut();
		sender.signals.send("rebuild", "1");
		recorder.awaitBegun();
		Thread stopping = new Thread(() -> a.signals.stopListening(PATIENCE), "stopping");
		stopping.start();
		// It waits for the handler, so it has ended the begin of others.
		Awaitility.await().atMost(PATIENCE).until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
		SignalDelivery second = sender.signals.send("rebuild", "2");
		recorder.open();

		stopping.join(PATIENCE.toMillis());
		assertThat(stopping.isAlive()).isFalse();
		assertThat(recorder.rest()).containsExactly("1");
		a.signals.listen(List.of(recorder));
		assertThat(second.awaitAll(PATIENCE).handled()).containsExactly(a.member());
		assertThat(recorder.rest()).containsExactly("1", "2");
	}

	@Test
	void stopWaitsForTheAcknowledgement() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		CountDownLatch acknowledging = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		a.beforeAcknowledgement = (listening) -> {
			if (listening.get("rebuild").handled().outcome() == Outcome.OK) {
				acknowledging.countDown();
				await(released);
			}
		};
		a.signals.send("rebuild", "1");
		await(acknowledging);
		CompletableFuture<Void> stopping = CompletableFuture.runAsync(() -> a.signals.stopListening(PATIENCE));

		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> stopping.get(200, TimeUnit.MILLISECONDS));
		released.countDown();

		stopping.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void handlerThatDoesNotReturnIsInterruptedAtTheEndOfTheStop() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		recorder.shut();
		SignalDelivery delivery = a.signals.send("rebuild", "1");
		recorder.awaitBegun();

		a.signals.stopListening(Duration.ofMillis(50));

		assertThat(delivery.awaitAll(PATIENCE).failed().get(a.member())).contains("InterruptedException");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "with space", "{braces}", "a|b", "-first" })
	void invalidNameIsRefused(String name) {
		SignalInstance a = instance("a");

		assertThatIllegalArgumentException().isThrownBy(() -> a.signals.send(name, "payload"))
			.withMessageContaining("'" + name + "'")
			.withMessageContaining("Use 1 to 100 letters");
	}

	@Test
	void payloadOfTheLargestSizeIsSentAndALargerOneIsRefused() throws Exception {
		Recorder recorder = recorder();
		SignalInstance a = instance("a").start(recorder);
		String largest = "x".repeat(64 * 1024);

		a.signals.send("rebuild", largest).awaitAll(PATIENCE);

		assertThat(recorder.rest()).containsExactly(largest);
		assertThatIllegalArgumentException().isThrownBy(() -> a.signals.send("rebuild", largest + "x"))
			.withMessageContaining("65537 bytes")
			.withMessageContaining("shardkeeper.signals.max-payload-size");
	}

	@Test
	void invalidArgumentsAreRefused() {
		SignalInstance a = instance("a");
		SignalDelivery delivery = a.signals.send("rebuild");

		assertThatIllegalArgumentException().isThrownBy(() -> a.signals.send("rebuild", new byte[] { 1 }))
			.withMessageContaining("binary");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> a.signals.send("rebuild", "payload", Duration.ofMillis(-1)))
			.withMessageContaining("retention");
		assertThatIllegalArgumentException().isThrownBy(() -> delivery.await(0, PATIENCE)).withMessageContaining("0");
		assertThatIllegalArgumentException().isThrownBy(() -> delivery.await(-1, PATIENCE)).withMessageContaining("-1");
		assertThatIllegalArgumentException().isThrownBy(() -> delivery.awaitAll(Duration.ofMillis(-1)));
	}

}
