package io.github.shardkeeper.cluster.signal;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Latest;
import io.github.shardkeeper.cluster.signal.SignalStore.Listening;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store of signals does.
 */
public abstract class SignalStoreContract {

	protected static final MemberId A = MemberId.of("a", "1");

	protected static final MemberId B = MemberId.of("b", "1");

	private static final Duration HOUR = Duration.ofHours(1);

	private static final String NAME = "rebuild";

	private SignalStores stores;

	/**
	 * Opens the stores of a group that never existed before.
	 * @return the stores, which the contract closes
	 */
	protected abstract SignalStores openStores();

	/**
	 * Waits until a duration of the store's time has passed.
	 * @param duration the minimum duration
	 */
	protected abstract void advance(Duration duration);

	@BeforeEach
	final void open() {
		this.stores = openStores();
		join(A);
		join(B);
	}

	@AfterEach
	final void close() {
		this.stores.close();
	}

	protected final SignalStore store() {
		return this.stores.signals();
	}

	protected final SignalStores stores() {
		return this.stores;
	}

	protected final void join(MemberId member) {
		this.stores.coordination()
			.joinGroup(member, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), HOUR, HOUR);
	}

	protected final @Nullable Latest acknowledge(MemberId session, Handled handled) {
		return Objects.requireNonNull(store().acknowledge(session, Map.of(NAME, listening(handled)))).get(NAME);
	}

	private static Listening listening(Handled handled) {
		return new Listening(handled, HOUR);
	}

	private static Handled ok(long number) {
		return new Handled(number, Outcome.OK, "");
	}

	protected final @Nullable ClusterSignal begin(MemberId session) {
		Latest latest = acknowledge(session, Handled.NOTHING);
		return (latest != null) ? latest.signal() : null;
	}

	protected final long send(String payload) {
		return store().send(NAME, payload, HOUR, "sender");
	}

	@Test
	void sessionThatListensGetsTheLatestSignalUntilItHasHandledIt() {
		assertThat(begin(A)).isNull();
		send("1");
		long number = send("2");

		ClusterSignal signal = begin(A);
		assertThat(Objects.requireNonNull(signal).number()).isEqualTo(number);
		assertThat(signal.payload()).isEqualTo("2");
		assertThat(signal.name()).isEqualTo(NAME);
		assertThat(begin(A)).isEqualTo(signal);
		assertThat(acknowledge(A, ok(number))).isNull();
		assertThat(begin(A)).isNull();
	}

	@Test
	void acknowledgementReturnsTheNextSignal() {
		begin(A);
		long first = send("1");
		send("2");

		assertThat(Objects.requireNonNull(acknowledge(A, ok(first))).signal())
			.extracting((signal) -> Objects.requireNonNull(signal).payload())
			.isEqualTo("2");
	}

	@Test
	void numbersGrowAcrossNames() {
		long first = send("1");
		long other = store().send("other", "2", HOUR, "sender");

		assertThat(other).isGreaterThan(first);
		assertThat(send("3")).isGreaterThan(other);
	}

	@Test
	void viewHasTheNumberOfTheLastSignal() {
		assertThat(this.stores.views().read(A, "one").signals()).isZero();

		long number = send("1");

		assertThat(this.stores.views().read(A, "one").signals()).isEqualTo(number);
	}

	@Test
	void signalIsForSessionsThatBeginWithinItsRetention() {
		long number = store().send(NAME, "1", Duration.ofMillis(1), "sender");
		send("2");
		assertThat(begin(A)).isNotNull();
		store().send(NAME, "3", Duration.ofMillis(1), "sender");
		advance(Duration.ofMillis(2));

		assertThat(Objects.requireNonNull(begin(A)).payload()).as("began before").isEqualTo("3");
		assertThat(begin(B)).as("begins after it").isNull();
		assertThat(begin(B)).as("repeated").isNull();
		assertThat(store().acknowledgements(NAME).get(B))
			.satisfies((entry) -> assertThat(entry.number()).isGreaterThan(number))
			.satisfies((entry) -> assertThat(entry.outcome()).isEqualTo(Outcome.LISTENS));
		long next = send("4");
		assertThat(Objects.requireNonNull(begin(B)).number()).isEqualTo(next);
	}

	@Test
	void sessionThatBeginsTellsWhatItsProcessHasHandled() {
		long number = send("1");

		assertThat(acknowledge(B, ok(number))).isNull();

		assertThat(store().acknowledgements(NAME)).containsOnly(Map.entry(B, ok(number)));
	}

	@Test
	void acknowledgementsNameOutcomeAndReason() {
		begin(B);
		long number = send("1");
		Handled failed = new Handled(number, Outcome.FAILED, "no space | left");
		acknowledge(A, failed);

		assertThat(store().acknowledgements(NAME).get(A)).isEqualTo(failed);
		assertThat(store().acknowledgements(NAME).get(B).number()).isLessThan(number);
		assertThat(store().acknowledgements("other")).isEmpty();
	}

	@Test
	void lowerNumberIsIgnored() {
		long first = send("1");
		long second = send("2");
		acknowledge(A, ok(second));

		acknowledge(A, new Handled(first, Outcome.FAILED, "late"));

		assertThat(store().acknowledgements(NAME).get(A)).isEqualTo(ok(second));
	}

	@Test
	void nothingIsStoredForAnUnknownSession() {
		send("1");

		assertThat(store().acknowledge(MemberId.of("c", "1"), Map.of(NAME, listening(Handled.NOTHING)))).isNull();

		assertThat(store().acknowledgements(NAME)).isEmpty();
	}

	@Test
	void signalThatIsOlderThanTheSessionWantsCountsAsDone() {
		long number = send("1");
		advance(Duration.ofMillis(2));

		Listening started = new Listening(Handled.NOTHING, Duration.ofMillis(1));
		assertThat(store().acknowledge(A, Map.of(NAME, started))).isEmpty();
		assertThat(store().acknowledgements(NAME).get(A)).isEqualTo(new Handled(number, Outcome.LISTENS, ""));
		assertThat(Objects.requireNonNull(begin(B)).number()).as("for one that wants it").isEqualTo(number);
		send("2");
		advance(Duration.ofMillis(2));
		assertThat(Objects.requireNonNull(store().acknowledge(A, Map.of(NAME, started))).get(NAME)).as("it was there")
			.isNotNull();
	}

	@Test
	void sessionThatIsGoneIsNotListed() {
		begin(A);
		begin(B);

		this.stores.coordination().leaveGroup(A, Duration.ZERO);

		assertThat(store().acknowledgements(NAME)).containsOnlyKeys(B);
	}

	@Test
	void viewThatChangesForgetsOverSignals() {
		store().send("past", "1", Duration.ZERO, "sender");
		send("kept");
		this.stores.views().read(A, "one");
		join(MemberId.of("c", "1"));
		this.stores.views().read(A, "one");

		Map<String, Latest> latest = Objects.requireNonNull(
				store().acknowledge(A, Map.of(NAME, listening(Handled.NOTHING), "past", listening(Handled.NOTHING))));
		assertThat(latest).containsOnlyKeys(NAME);
	}

	@Test
	void signalThatAListenerHasNotHandledIsNotForgotten() {
		begin(A);
		store().send(NAME, "1", Duration.ZERO, "sender");
		this.stores.views().read(A, "one");
		join(MemberId.of("c", "1"));
		this.stores.views().read(A, "one");

		assertThat(Objects.requireNonNull(begin(A)).payload()).isEqualTo("1");
	}

	@Test
	void allAreToldOfASignalAndItsSenderOfAcknowledgements() throws Exception {
		BlockingQueue<String> all = new LinkedBlockingQueue<>();
		BlockingQueue<String> sender = new LinkedBlockingQueue<>();
		ClusterMessages messages = this.stores.messages();
		try (CoordinationStore.Subscription one = messages.subscribe("other", all::add);
				CoordinationStore.Subscription two = messages.subscribe("sender", sender::add)) {
			begin(A);
			long number = send("1");
			acknowledge(A, ok(number));
			acknowledge(B, new Handled(number, Outcome.FAILED, "a|b"));

			assertThat(next(all)).isEqualTo("signal|rebuild|" + number);
			assertThat(next(sender)).isEqualTo("signal|rebuild|" + number);
			assertThat(next(sender)).isEqualTo("signaled|rebuild|" + number + "|a~1|OK|");
			assertThat(next(sender)).isEqualTo("signaled|rebuild|" + number + "|b~1|FAILED|a|b");
			assertThat(all).isEmpty();
			assertThat(one.isOpen()).isTrue();
			assertThat(two.isOpen()).isTrue();
		}
	}

	private static @Nullable String next(BlockingQueue<String> messages) throws InterruptedException {
		return messages.poll(20, TimeUnit.SECONDS);
	}

}
