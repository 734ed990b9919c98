package io.github.shardkeeper.state;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

class JournaledStateTests {

	private final JournaledState state = new JournaledState(Map.of("a", "1", "b", "\"two\""),
			new StateValues(new JsonMapper(), List.of()), null, false);

	@Test
	void committedEntriesAreRead() {
		StateView view = this.state.open(0);

		assertThat(view.get("a", Integer.class)).contains(1);
		assertThat(view.get("b", String.class)).contains("two");
		assertThat(view.get("c", String.class)).isEmpty();
		assertThat(view.keys()).containsExactly("a", "b");
		assertThat(this.state.uncommitted()).isEmpty();
	}

	@Test
	void keysAndValuesThatUtf8CannotRepresentAreRefused() {
		StateView view = this.state.open(0);
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("a\uD83D", 1))
			.withMessageContaining("A key of the state has half of a surrogate pair, \\ud83d at index 1");
		assertThatIllegalArgumentException().isThrownBy(() -> view.increment("\uDE00", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> view.get("\uDE00\uD83D", Integer.class));
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("k", List.of("\uD83Dx")))
			.withMessageContaining("surrogate");
		assertThat(view.isUntouched()).isTrue();

		view.put("\uD83D\uDE00", "\uD83D\uDE00");
		assertThat(view.get("\uD83D\uDE00", String.class)).contains("\uD83D\uDE00");
	}

	@Test
	void valuesWithoutPropertiesAreRefused() {
		StateView view = this.state.open(0);
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("k", new Object()))
			.withMessageContaining("The value for key 'k' of type java.lang.Object cannot be written as JSON")
			.withMessageContaining("give the class getters, or make it a record");
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("k", Map.of("nested", new Object())));
		assertThat(view.isUntouched()).isTrue();

		view.put("k", new Nothing());
		assertThat(view.get("k", Nothing.class)).contains(new Nothing());
	}

	@Test
	void callReadsItsOwnWrites() {
		StateView view = this.state.open(0);
		view.put("c", new Point(1, 2));
		view.remove("a");

		assertThat(view.get("c", Point.class)).contains(new Point(1, 2));
		assertThat(view.get("a", Integer.class)).isEmpty();
		assertThat(view.keys()).containsExactly("b", "c");
	}

	/** Compares with a copy of what the view had, for many sequences of calls. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void rollbackToASavepointTakesBackWhatWasWrittenSince(boolean shared) {
		StateValues values = new StateValues(new JsonMapper(), List.of());
		for (int seed = 0; seed < 500; seed++) {
			Random random = new Random(seed);
			JournaledState journal = new JournaledState(Map.of("k0", "1", "k1", "2", "k2", "3"), values, null, shared);
			StateView view = journal.open(0);
			StateView expected = journal.open(0);
			write(random, view, expected);
			Runnable outer = view.savepoint();
			write(random, view);
			Runnable inner = view.savepoint();
			write(random, view);
			inner.run();
			write(random, view);
			outer.run();
			write(random, view, expected);

			assertThat(view.keys()).as("seed %d", seed).isEqualTo(expected.keys());
			assertThat(journal.changes(view)).as("seed %d", seed).isEqualTo(journal.changes(expected));
		}
	}

	/** Makes the same writes in all views. */
	private static void write(Random random, StateView... views) {
		for (int writes = random.nextInt(15); writes > 0; writes--) {
			String key = "k" + random.nextInt(14);
			int kind = random.nextInt(4);
			int number = random.nextInt(100);
			for (StateView view : views) {
				switch (kind) {
					case 0 -> view.put(key, number);
					case 1 -> view.increment(key, number);
					case 2 -> view.remove(key);
					default -> view.get(key, Integer.class);
				}
			}
		}
	}

	@Test
	void writesAreNotCommittableBeforeTheCallSucceeds() {
		StateView view = this.state.open(0);
		view.put("a", 2);
		assertThat(this.state.uncommitted()).isEmpty();

		keep(view);
		assertThat(this.state.uncommitted()).containsOnly(Map.entry("a", "2"));
	}

	@Test
	@Promise("State exactly once")
	void writesOfAFailedCallAreDropped() {
		StateView view = this.state.open(0);
		view.put("a", 2);
		view.put("a", 3);
		view.remove("b");
		view.put("c", 1);

		StateView next = this.state.open(0);
		assertThat(next.get("a", Integer.class)).contains(1);
		assertThat(next.get("b", String.class)).contains("two");
		assertThat(next.keys()).containsExactly("a", "b");
		keep(next);
		assertThat(this.state.uncommitted()).isEmpty();
	}

	@Test
	void writesOfEarlierCallsSurviveALaterFailure() {
		StateView first = this.state.open(0);
		first.put("a", 2);
		keep(first);
		this.state.open(0).remove("a");

		assertThat(this.state.open(0).get("a", Integer.class)).contains(2);
		assertThat(this.state.uncommitted()).containsOnly(Map.entry("a", "2"));
	}

	@Test
	void removedEntriesAreCommittedAsNull() {
		StateView view = this.state.open(0);
		view.remove("a");
		keep(view);

		assertThat(this.state.uncommitted()).hasSize(1).containsEntry("a", null);
		this.state.takeUncommitted();
		assertThat(this.state.uncommitted()).isEmpty();
	}

	@Test
	void writingTheSameValueChangesNothing() {
		StateView view = this.state.open(0);
		view.put("a", 1);
		view.remove("c");
		keep(view);

		assertThat(this.state.uncommitted()).isEmpty();
	}

	@Test
	void valuesAreCopied() {
		int[] value = { 1 };
		StateView view = this.state.open(0);
		view.put("c", value);
		value[0] = 2;

		assertThat(view.get("c", int[].class)).hasValueSatisfying((read) -> assertThat(read).containsExactly(1));
	}

	@Test
	void countsWholeNumbers() {
		StateView view = this.state.open(0);

		assertThat(view.increment("a", 2)).isEqualTo(3);
		assertThat(view.increment("new", -1)).isEqualTo(-1);
		assertThat(view.get("new", Long.class)).contains(-1L);
		assertThatIllegalArgumentException().isThrownBy(() -> view.increment("b", 1)).withMessageContaining("'b'");
		view.put("big", Long.MAX_VALUE);
		assertThatExceptionOfType(ArithmeticException.class).isThrownBy(() -> view.increment("big", 1));
		assertThat(view.get("big", Long.class)).contains(Long.MAX_VALUE);
	}

	@Test
	void invalidArgumentsAreRefused() {
		StateView view = this.state.open(0);

		assertThatIllegalArgumentException().isThrownBy(() -> view.put("", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> view.get("", String.class));
		assertThatNullPointerException().isThrownBy(() -> view.put("a", null)).withMessageContaining("remove");
		assertThatIllegalArgumentException().isThrownBy(() -> view.get("b", Integer.class))
			.withMessageContaining("'b'")
			.withMessageContaining("java.lang.Integer");
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("c", new Endless()))
			.withMessageContaining("'c'");
	}

	@Test
	@Tag("proof")
	void entriesTooLargeForACommitAreRefused() {
		String large = "x".repeat(StateWrites.MAX_ENTRY_LENGTH - 2 - "large 0".length());
		StateView view = this.state.open(0);
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("large 0", large + "x"))
			.withMessageContaining("'large 0'")
			.withMessageContaining("a key of 7 characters and a value of 16,777,210")
			.withMessageContaining("split it into several keys");

		for (int i = 0; i < 4; i++) {
			view.put("large " + i, large);
			view.put("large " + i, large);
		}
		assertThatIllegalArgumentException().isThrownBy(() -> view.put("one more", 1))
			.withMessageContaining("67,108,873")
			.withMessageContaining("batch-size");
		view.remove("large 0");
		view.put("one more", 1);
	}

	@Test
	@Tag("proof")
	void keysCountAsValuesDo() {
		String longKey = "k".repeat(StateWrites.MAX_ENTRY_LENGTH);
		for (boolean shared : new boolean[] { false, true }) {
			StateView view = new JournaledState(Map.of(), new StateValues(JsonMapper.shared(), List.of()), null, shared)
				.open(0);
			assertThatIllegalArgumentException().isThrownBy(() -> view.put(longKey, 1))
				.withMessageContaining("under key 'kkkkk")
				.withMessageContaining("a key of 16,777,216 characters and a value of 1 as JSON")
				.satisfies((refused) -> assertThat(refused.getMessage()).hasSizeLessThan(500));
			assertThatIllegalArgumentException().isThrownBy(() -> view.increment(longKey, 1));
			String key = longKey.substring(100);
			for (int i = 0; i < 4; i++) {
				view.increment(i + key, 1);
				view.increment(i + key, 1);
				view.put(i + key, 1);
			}
			assertThatIllegalArgumentException().isThrownBy(() -> view.remove("4" + key))
				.withMessageContaining("batch-size")
				.satisfies((refused) -> assertThat(refused.getMessage()).hasSizeLessThan(500));
		}
	}

	@Test
	void sizeOfUncommittedChangesIsKnown() {
		StateView first = this.state.open(0);
		first.put("a", "xxxx");
		first.remove("b");
		this.state.addCommittable(first);
		assertThat(this.state.bytes()).isEqualTo("a\"xxxx\"b".length());

		StateView second = this.state.open(0);
		second.put("a", 1);
		this.state.makeCommittable(this.state.add(second));
		assertThat(this.state.bytes()).as("in place of the one before").isEqualTo("a1b".length());
		this.state.takeUncommitted();
		assertThat(this.state.bytes()).isZero();
	}

	@Test
	void jsonNullIsNoValue() {
		StateView view = this.state.open(0);
		view.put("c", Optional.empty());

		assertThat(view.get("c", String.class)).isEmpty();
	}

	@Test
	void stateIsUnusableAfterTheCall() {
		StateView view = this.state.open(0);
		view.close();

		assertThatIllegalStateException().isThrownBy(() -> view.get("a", Integer.class));
		assertThatIllegalStateException().isThrownBy(() -> view.put("a", 1));
		assertThatIllegalStateException().isThrownBy(() -> view.remove("a"));
		assertThatIllegalStateException().isThrownBy(() -> view.increment("a", 1));
		assertThatIllegalStateException().isThrownBy(view::keys);
	}

	@Test
	void stateIsConfinedToTheThreadOfTheCall() {
		StateView view = this.state.open(0);

		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> CompletableFuture.runAsync(() -> view.put("a", 1)).join())
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void keysAreACopy() {
		StateView view = this.state.open(0);
		var keys = view.keys();
		view.remove("a");

		assertThat(keys).containsExactly("a", "b");
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> keys.add("c"));
	}

	@Test
	void unsettledChangesAreSeenButNotCommitted() {
		StateView first = this.state.open(0);
		first.put("a", 2);
		JournaledState.Changes changes = this.state.add(first);
		StateView second = this.state.open(0);
		assertThat(second.get("a", Integer.class)).contains(2);
		second.increment("a", 1);
		second.put("c", 5);
		JournaledState.Changes later = this.state.add(second);

		assertThat(this.state.hasUncommittable()).isTrue();
		assertThat(this.state.uncommitted()).isEmpty();
		assertThat(this.state.committableEntries()).isEqualTo(Map.of("a", "1", "b", "\"two\""));
		this.state.makeCommittable(changes);
		assertThat(this.state.uncommitted()).isEqualTo(Map.of("a", "2"));
		assertThat(this.state.committableEntries()).isEqualTo(Map.of("a", "2", "b", "\"two\""));
		assertThat(this.state.hasUncommittable()).isTrue();
		this.state.makeCommittable(later);
		assertThat(this.state.hasUncommittable()).isFalse();
		assertThat(this.state.uncommitted()).isEqualTo(Map.of("a", "3", "c", "5"));
		assertThat(this.state.committableEntries()).isEqualTo(Map.of("a", "3", "b", "\"two\"", "c", "5"));
	}

	@Test
	void concurrentCallWithOutdatedReadsIsRepeated() {
		JournaledState shared = new JournaledState(Map.of("a", "1"), new StateValues(new JsonMapper(), List.of()), null,
				true);
		StateView one = shared.open(0);
		StateView other = shared.open(0);
		one.put("a", one.get("a", Integer.class).orElseThrow() + 1);
		other.put("a", other.get("a", Integer.class).orElseThrow() + 1);

		assertThat(shared.add(one)).isNotNull();
		assertThat(shared.add(other)).as("it has read 1, which is 2 now").isNull();
		assertThat(shared.addCommittable(other)).isNull();
		StateView again = shared.open(0);
		again.put("a", again.get("a", Integer.class).orElseThrow() + 1);
		assertThat(shared.add(again)).isNotNull();
		assertThat(shared.open(0).get("a", Integer.class)).contains(3);
	}

	@Test
	void concurrentIncrementsDoNotConflict() {
		JournaledState shared = new JournaledState(Map.of("a", "1"), new StateValues(new JsonMapper(), List.of()), null,
				true);
		StateView one = shared.open(0);
		StateView other = shared.open(0);
		assertThat(one.increment("a", 10)).isEqualTo(11);
		assertThat(one.increment("a", 10)).isEqualTo(21);
		assertThat(other.increment("a", 100)).isEqualTo(101);
		assertThat(other.increment("new", 5)).isEqualTo(5);
		assertThat(other.keys()).containsExactly("a", "new");

		assertThat(shared.add(one)).isNotNull();
		assertThat(shared.add(other)).as("has looked at the keys, but none has come or gone").isNotNull();
		StateView now = shared.open(0);
		assertThat(now.get("a", Integer.class)).contains(121);
		assertThat(now.get("new", Integer.class)).contains(5);
	}

	@Test
	void callThatReadASumIsRepeatedWhenItChanges() {
		JournaledState shared = new JournaledState(Map.of("a", "1"), new StateValues(new JsonMapper(), List.of()), null,
				true);
		StateView one = shared.open(0);
		StateView other = shared.open(0);
		other.increment("a", 1);
		assertThat(other.get("a", Integer.class)).contains(2);
		one.increment("a", 1);

		assertThat(shared.add(one)).isNotNull();
		assertThat(shared.add(other)).isNull();
	}

	@Test
	void callThatHasMissedAValueIsRepeatedThoughItReadsItLater() {
		JournaledState shared = new JournaledState(Map.of(), new StateValues(new JsonMapper(), List.of()), null, true);
		StateView one = shared.open(0);
		StateView other = shared.open(0);
		one.put("a", 1);
		assertThat(other.get("a", Integer.class)).isEmpty();
		assertThat(shared.add(one)).isNotNull();
		assertThat(other.get("a", Integer.class)).contains(1);
		other.put("missed", true);

		assertThat(shared.add(other)).isNull();
	}

	@Test
	void callThatReadTheKeysIsRepeatedWhenTheyChange() {
		JournaledState shared = new JournaledState(Map.of("a", "1"), new StateValues(new JsonMapper(), List.of()), null,
				true);
		StateView one = shared.open(0);
		StateView other = shared.open(0);
		one.put("b", 1);
		other.put("count", other.keys().size());

		assertThat(shared.add(one)).isNotNull();
		assertThat(shared.add(other)).isNull();
	}

	@Test
	void readOnlyCallHasNoConflicts() {
		JournaledState shared = new JournaledState(Map.of("a", "1"), new StateValues(new JsonMapper(), List.of()), null,
				true);
		StateView reader = shared.open(0);
		reader.get("a", Integer.class);
		StateView writer = shared.open(0);
		writer.put("a", 2);
		shared.add(writer);

		assertThat(shared.add(reader)).isEqualTo(JournaledState.Changes.NONE);
	}

	@Test
	void changedNumberIsCommittedOncePerCommit() {
		add("n", 1);
		add("n", 1);
		assertThat(this.state.hasUncommitted()).isTrue();
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "2"));
		assertThat(this.state.hasUncommitted()).isFalse();
		assertThat(this.state.takeUncommitted()).isEmpty();
		add("n", 0);
		assertThat(this.state.hasUncommitted()).isFalse();
		add("n", 3);
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "5"));
	}

	@Test
	void numberOfAFailedCallIsDropped() {
		add("n", 1);
		StateView failed = this.state.open(0);
		failed.increment("n", 5);
		failed.put("a", 7L);
		failed.close();

		assertThat(this.state.open(0).get("n", Long.class)).contains(1L);
		assertThat(this.state.committableEntries()).containsEntry("a", "1").containsEntry("n", "1");
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "1"));
	}

	@Test
	void numberThatIsReplacedBeforeItsRecordIsDoneStaysInTheNextCommit() {
		add("n", 1);
		StateView view = this.state.open(0);
		view.put("n", "text");
		JournaledState.Changes later = this.state.add(view);

		assertThat(this.state.committableEntries()).containsEntry("n", "1");
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "1"));
		this.state.makeCommittable(later);
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "\"text\""));
	}

	@Test
	void numberMayBecomeTextOrBeRemovedAndTheOtherWayRound() {
		add("n", 1);
		write((view) -> view.put("n", "text"));
		assertThat(this.state.uncommitted()).containsOnly(Map.entry("n", "\"text\""));
		assertThat(this.state.bytes()).isEqualTo("n\"text\"".length());
		write((view) -> view.put("n", 3));
		assertThat(this.state.uncommitted()).containsOnly(Map.entry("n", "3"));
		write((view) -> view.remove("n"));
		assertThat(this.state.takeUncommitted()).hasSize(1).containsEntry("n", null);
		write((view) -> view.increment("n", 4));
		assertThat(this.state.takeUncommitted()).containsOnly(Map.entry("n", "4"));
	}

	@Test
	void numberIsReadAsEveryTypeThatItsJsonIs() {
		add("n", 5);

		StateView view = this.state.open(0);
		assertThat(view.get("n", Long.class)).contains(5L);
		assertThat(view.get("n", Integer.class)).contains(5);
		assertThat(view.get("n", Double.class)).contains(5.0);
		assertThat(view.get("n", String.class)).contains("5");
		view.increment("n", Long.MAX_VALUE - 5);
		assertThat(view.get("n", Long.class)).contains(Long.MAX_VALUE);
		assertThatIllegalArgumentException().isThrownBy(() -> view.get("n", Integer.class));
	}

	@Test
	void numberTakesTheRoomOfItsDigits() {
		String key = "k".repeat(StateWrites.MAX_ENTRY_LENGTH - 2);
		StateView view = this.state.open(0);
		assertThat(view.increment(key, 99)).isEqualTo(99);
		assertThatIllegalArgumentException().isThrownBy(() -> view.increment(key, 1))
			.withMessageContaining("value of 3");
		assertThatIllegalArgumentException().isThrownBy(() -> view.put(key, -10)).withMessageContaining("value of 3");
		view.put(key, -9);
		assertThat(view.get(key, Long.class)).contains(-9L);
	}

	private void add(String key, long delta) {
		write((view) -> view.increment(key, delta));
	}

	private void write(Consumer<StateView> writing) {
		try (StateView view = this.state.open(0)) {
			writing.accept(view);
			keep(view);
		}
	}

	private void keep(StateView view) {
		assertThat(this.state.addCommittable(view)).isEqualTo(JournaledState.Changes.NONE);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void commitsAndRollBacksInAnyOrderLeaveWhatAPlainMapHas(boolean shared) {
		for (long seed = 0; seed < 300; seed++) {
			Random random = new Random(seed);
			JournaledState journaled = new JournaledState(Map.of("k0", "0"),
					new StateValues(new JsonMapper(), List.of()), null, shared);
			Map<String, Long> kept = new HashMap<>(Map.of("k0", 0L));
			Map<String, String> store = new HashMap<>(Map.of("k0", "0"));
			for (int call = 0; call < 20; call++) {
				Map<String, Long> model = new HashMap<>(kept);
				try (StateView view = journaled.open(0)) {
					int steps = random.nextInt(random.nextInt(8) == 0 ? 40 : 4);
					for (int step = 0; step < steps; step++) {
						write(view, model, random);
					}
					if (random.nextInt(3) > 0) {
						if (random.nextBoolean()) {
							journaled.makeCommittable(journaled.add(view));
						}
						else {
							journaled.addCommittable(view);
						}
						kept = model;
					}
				}
				if (random.nextInt(4) == 0) {
					commit(journaled, store);
					assertThat(numbers(store)).as("seed %d, call %d", seed, call).isEqualTo(kept);
					assertThat(journaled.hasUncommitted()).isFalse();
					assertThat(journaled.bytes()).isZero();
				}
				assertThat(numbers(journaled.committableEntries())).as("seed %d, call %d", seed, call).isEqualTo(kept);
				try (StateView view = journaled.open(0)) {
					assertThat(view.keys()).as("seed %d, call %d", seed, call)
						.containsExactlyInAnyOrderElementsOf(kept.keySet());
				}
			}
		}
	}

	private static void write(StateView view, Map<String, Long> model, Random random) {
		String key = "k" + random.nextInt(12);
		switch (random.nextInt(4)) {
			case 0 -> {
				long value = random.nextInt(3);
				view.put(key, value);
				model.put(key, value);
			}
			case 1 -> {
				view.remove(key);
				model.remove(key);
			}
			case 2 -> assertThat(view.get(key, Long.class)).isEqualTo(Optional.ofNullable(model.get(key)));
			default -> assertThat(view.increment(key, 1)).isEqualTo(model.merge(key, 1L, Long::sum));
		}
	}

	private static void commit(JournaledState journaled, Map<String, String> store) {
		journaled.takeUncommitted().forEach((key, json) -> {
			if (json != null) {
				store.put(key, json);
			}
			else {
				store.remove(key);
			}
		});
	}

	private static Map<String, Long> numbers(Map<String, String> store) {
		Map<String, Long> numbers = new HashMap<>();
		store.forEach((key, json) -> numbers.put(key, Long.parseLong(json)));
		return numbers;
	}

	record Nothing() {

	}

	record Point(int x, int y) {

	}

	/** Cannot be written as JSON. */
	static final class Endless {

		public List<Endless> getSelf() {
			return List.of(this);
		}

	}

}
