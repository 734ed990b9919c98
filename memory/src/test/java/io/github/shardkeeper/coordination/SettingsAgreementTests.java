package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.TestRuntime;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.SettingsStore;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

@CapturesOutput
class SettingsAgreementTests {

	private static final String MODE = "shardkeeper.topics.visits.mode";

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final MemoryCoordinationStore group = new MemoryCoordinationStore();

	private final CutStore store = new CutStore(this.group.settings());

	private final AtomicInteger reached = new AtomicInteger();

	private final SettingsAgreement running = agreement("one", "coordinated", "7d", this.group.settings());

	private SettingsAgreement other = agreement("two", "broadcast", "7d", this.store);

	@AfterEach
	void end() {
		this.running.end();
		this.other.end();
	}

	@Test
	void conflictNamesBothValuesTheInstanceAndWhatToDo() {
		begin(this.running);

		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(() -> begin(this.other))
			.satisfies((conflict) -> {
				assertThat(conflict.getDescription()).contains("'visits-app'",
						"'" + MODE + "' is 'broadcast' here, but 'coordinated' on one");
				assertThat(conflict.getAction()).contains("stop all instances", "'shardkeeper.group'", "30000 ms");
			});
		assertThat(this.other.isReached()).isFalse();
	}

	@Test
	void settingsAreChangedOnceAllInstancesHaveStopped() {
		begin(this.running);
		this.running.end();

		begin(this.other);

		assertThat(this.other.isReached()).isTrue();
		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(() -> begin(this.running));
	}

	@Test
	void restartInPlaceIsNoConflictWithItself() {
		begin(this.running);
		this.running.end();
		begin(this.running);

		assertThat(this.running.isReached()).isTrue();
	}

	@Test
	void storeThatCannotBeReachedIsAskedAgain() {
		this.store.away = true;
		begin(this.other);
		assertThat(this.other.isReached()).isFalse();
		assertThat(this.other.problem()).get()
			.satisfies((problem) -> assertThat(problem.text()).contains("away, caused by the test"))
			.satisfies((problem) -> assertThat(problem.waiting()).isNotNull());
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.other::beforeJoin);

		this.store.away = false;

		await().atMost(PATIENCE).until(this.other::isReached);
		assertThat(this.reached).hasValue(1);
		assertThat(this.other.problem()).isEmpty();
		assertThatNoException().isThrownBy(this.other::beforeJoin);
	}

	@Test
	void conflictThatIsFoundLaterIsSaidAndKeepsFromJoining(CapturedOutput output) {
		begin(this.running);
		this.store.away = true;
		begin(this.other);
		this.store.away = false;

		await().atMost(PATIENCE).until(() -> output.getOut().contains("Topics are not consumed. This instance cannot"));
		assertThat(this.other.isReached()).isFalse();
		assertThat(this.other.problem()).get().satisfies((problem) -> assertThat(problem.waiting()).isNull());
		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(this.other::beforeJoin);
	}

	@Test
	void harmlessDifferenceIsSaidOnce(CapturedOutput output) {
		begin(this.running);
		this.other = agreement("two", "coordinated", "1d", this.store);
		begin(this.other);

		assertThat(this.other.isReached()).isTrue();
		assertThat(output.getOut())
			.containsOnlyOnce("'shardkeeper.topics.visits.trim.max-age' is '1d' here, but '7d' on one");
	}

	@Test
	void moreTopicsAreComparedBeforeTheyAreConsumed() {
		begin(this.running);
		this.other.begin(Set.of(), this.reached::incrementAndGet);

		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(() -> this.other.extend(Set.of("visits")))
			.withMessageContaining("'" + MODE + "' is 'broadcast' here, but 'coordinated' on one");

		assertThat(this.other.isReached()).isTrue();
		assertThat(this.other.problem()).as("of what it consumes").isEmpty();
		this.running.end();
		this.other.extend(Set.of("visits"));
		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(() -> begin(this.running));
	}

	@Test
	void moreTopicsNeedAReplyOnlyIfThereWasOne() {
		this.store.away = true;
		this.other.begin(Set.of(), this.reached::incrementAndGet);
		this.other.extend(Set.of("visits"));
		this.store.away = false;
		await().atMost(PATIENCE).until(this.other::isReached);
		assertThatExceptionOfType(SettingsConflictException.class).isThrownBy(() -> begin(this.running));

		this.store.away = true;
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.other.extend(Set.of("visits", "orders")));
		assertThat(this.other.isReached()).isTrue();
	}

	@Test
	void fewerTopicsAreAnnouncedFromTheNextTimeOn() {
		begin(this.running);
		this.running.reduce(Set.of());
		this.running.extend(Set.of());

		begin(this.other);

		assertThat(this.other.isReached()).isTrue();
	}

	private void begin(SettingsAgreement agreement) {
		agreement.begin(Set.of("visits"), this.reached::incrementAndGet);
	}

	private static SettingsAgreement agreement(String instance, String mode, String maxAge, SettingsStore store) {
		Duration second = Duration.ofSeconds(1);
		CoordinationSettings settings = new CoordinationSettings("visits-app", instance, second, second.multipliedBy(3),
				second.multipliedBy(15), Duration.ZERO, ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null);
		return new SettingsAgreement(settings, store,
				(topics) -> new SharedSettings(new TreeMap<>(topics.contains("visits") ? Map.of(MODE, mode) : Map.of()),
						new TreeMap<>(Map.of("shardkeeper.topics.visits.trim.max-age", maxAge))),
				TestRuntime.on(MonotonicClock.SYSTEM));
	}

	/** Way to a store that can be cut. */
	private static final class CutStore implements SettingsStore {

		private final SettingsStore store;

		private volatile boolean away;

		CutStore(SettingsStore store) {
			this.store = store;
		}

		private SettingsStore reach() {
			if (this.away) {
				throw new StoreUnavailableException("away, caused by the test", new IllegalStateException());
			}
			return this.store;
		}

		@Override
		public Reply announce(String instance, SharedSettings settings, Duration lease) {
			return reach().announce(instance, settings, lease);
		}

		@Override
		public void withdraw(String instance) {
			reach().withdraw(instance);
		}

	}

}
