package io.github.shardkeeper.state;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.state.value.StateValues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ExpiringStateTests {

	private static final StateValues VALUES = new StateValues(new JsonMapper(), List.of());

	private static final Duration SECOND = Duration.ofSeconds(1);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void expiredValueIsMissing(boolean shared) {
		JournaledState state = state(Map.of(), null, shared);
		call(state, 1000, (view) -> {
			view.put("text", "a", SECOND);
			view.put("number", 5L, SECOND);
			view.put("stays", 7L);
		});

		call(state, 1999, (view) -> {
			assertThat(view.get("text", String.class)).contains("a");
			assertThat(view.get("number", Long.class)).contains(5L);
			assertThat(view.keys()).containsExactly("number", "stays", "text");
		});
		call(state, 2000, (view) -> {
			assertThat(view.get("text", String.class)).isEmpty();
			assertThat(view.get("number", Long.class)).isEmpty();
			assertThat(view.keys()).containsExactly("stays");
			assertThat(view.increment("number", 1)).isEqualTo(1);
			assertThat(view.keys()).containsExactly("number", "stays");
		});
		call(state, 1999, (view) -> {
			assertThat(view.get("text", String.class)).as("the clock was set back").contains("a");
			assertThat(view.get("number", Long.class)).contains(1L);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void sumExpiresWhenTheValueWouldHave(boolean shared) {
		JournaledState state = state(Map.of("old", "@5000 1", "stays", "1"), SECOND, shared);
		call(state, 1000, (view) -> {
			view.increment("old", 1);
			view.increment("stays", 1);
			view.increment("new", 1);
			view.put("put", 1L, SECOND.multipliedBy(3));
			view.increment("put", 1);
			view.put("again", "x");
			view.remove("again");
			view.increment("again", 1);
		});
		call(state, 1500, (view) -> view.increment("new", 1));

		assertThat(state.takeUncommitted())
			.isEqualTo(Map.of("old", "@5000 2", "stays", "2", "new", "@2000 2", "put", "@4000 2", "again", "@2000 1"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void valueHasTheTimeToLiveOfItsLastPut(boolean shared) {
		JournaledState state = state(Map.of("a", "@1500 1", "b", "1"), SECOND, shared);
		call(state, 1000, (view) -> {
			view.put("a", 1L, SECOND.multipliedBy(2));
			view.put("b", 1L);
			view.put("c", new Visit("ann"), SECOND);
		});
		assertThat(state.takeUncommitted())
			.isEqualTo(Map.of("a", "@3000 1", "b", "@2000 1", "c", "@2000 {\"client\":\"ann\"}"));
		call(state, 1000, (view) -> view.put("a", 1L, SECOND.multipliedBy(2)));
		assertThat(state.takeUncommitted()).as("nothing has changed").isEmpty();

		JournaledState without = state(Map.of("a", "@1500 1"), null, shared);
		call(without, 1000, (view) -> view.put("a", 1L));
		assertThat(without.takeUncommitted()).isEqualTo(Map.of("a", "1"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void timeToLiveIsChecked(boolean shared) {
		StateView view = state(Map.of(), null, shared).open(1000);

		for (Duration bad : List.of(Duration.ZERO, Duration.ofNanos(999_999), SECOND.negated(),
				ExpiringValues.MAX_TTL.plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
			assertThatIllegalArgumentException().isThrownBy(() -> view.put("a", 1, bad))
				.withMessageMatching(
						"The value for key 'a' has a time to live of \\S+: use one from 1ms to 36500d, .*");
		}
		view.put("a", 1, ExpiringValues.MIN_TTL);
		view.put("b", 1, ExpiringValues.MAX_TTL);
		assertThat(view.keys()).containsExactly("a", "b");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void expiredEntriesAreRemovedWithALimitedCommit(boolean shared) {
		JournaledState state = state(Map.of("a", "@1500 1", "b", "@900 2", "c", "@2001 3", "d", "4"), null, shared);
		assertThat(state.nextExpiry()).isEqualTo(1000);
		assertThat(state.hasExpired(999)).as("removed by the second").isFalse();
		assertThat(state.removeExpired(2000, 1)).isEqualTo(1);
		assertThat(committed(state)).containsOnlyKeys("b");
		assertThat(state.removeExpired(2000, 1)).isEqualTo(1);
		assertThat(committed(state)).containsOnlyKeys("a");

		assertThat(state.hasExpired(2000)).isFalse();
		assertThat(state.removeExpired(3000, 10)).isEqualTo(1);
		assertThat(committed(state)).containsOnlyKeys("c").containsEntry("c", null);
		assertThat(state.nextExpiry()).isEqualTo(Long.MAX_VALUE);
		assertThat(state.committableEntries()).isEqualTo(Map.of("d", "4"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void putThatIsNotCommittedIsNotRemoved(boolean shared) {
		JournaledState state = state(Map.of("a", "@1000 1", "b", "@1000 1", "c", "@1000 1"), null, shared);
		call(state, 1500, (view) -> {
			view.put("a", 2L, SECOND);
			view.put("b", "x");
			view.increment("c", 5);
		});

		assertThat(state.removeExpired(2000, 10)).isZero();
		assertThat(state.takeUncommitted()).isEqualTo(Map.of("a", "@2500 2", "b", "\"x\"", "c", "5"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void putAfterARemovalWins(boolean shared) {
		JournaledState state = state(Map.of("a", "@1000 1"), null, shared);
		assertThat(state.removeExpired(1000, 10)).isEqualTo(1);
		call(state, 1000, (view) -> view.put("a", 2L, SECOND));

		assertThat(state.takeUncommitted()).isEqualTo(Map.of("a", "@2000 2"));
	}

	@Test
	void counterThatWasNotCommittedIsRemoved() {
		JournaledState state = state(Map.of("a", "@1000 1"), SECOND, false);
		call(state, 0, (view) -> {
			view.increment("a", 1);
			view.increment("b", 1);
		});
		long bytes = state.bytes();
		assertThat(bytes).isPositive();

		assertThat(state.removeExpired(1000, 10)).isEqualTo(2);
		assertThat(committed(state)).containsOnlyKeys("a", "b").containsValues(null, null);
		assertThat(state.bytes()).isZero();
	}

	@Test
	void entryOfACallThatIsNotAcknowledgedIsNotRemoved() {
		JournaledState state = state(Map.of("a", "@9000 1", "b", "@1000 1"), null, false);
		StateView view = state.open(0);
		view.put("a", 2L, SECOND);
		JournaledState.Changes changes = state.add(view);

		assertThat(state.removeExpired(2000, 10)).isEqualTo(1);
		assertThat(committed(state)).as("a crash brings back a").containsOnlyKeys("b");
		call(state, 2000, (later) -> assertThat(later.keys()).isEmpty());
		state.makeCommittable(changes);
		assertThat(state.takeUncommitted()).isEqualTo(Map.of("a", "@1000 2"));
		assertThat(state.removeExpired(2000, 10)).isEqualTo(1);
	}

	@Test
	void entryThatExpiresWhileCallsRunDoesNotRepeatThem() {
		JournaledState state = state(Map.of("a", "@1000 1", "b", "2"), null, true);
		StateView early = state.open(999);
		StateView late = state.open(1000);
		assertThat(early.get("a", Long.class)).contains(1L);
		assertThat(late.get("a", Long.class)).isEmpty();

		assertThat(state.removeExpired(2000, 10)).as("the early call may read it").isZero();
		assertThat(early.keys()).containsExactly("a", "b");
		assertThat(late.keys()).containsExactly("b");
		early.put("seen", early.get("a", Long.class).orElseThrow());
		late.increment("a", 5);
		early.close();
		assertThat(state.addCommittable(early)).isNotNull();
		assertThat(state.removeExpired(2000, 10)).isEqualTo(1);
		late.close();
		assertThat(state.addCommittable(late)).as("other keys: it has read them").isNull();

		StateView again = state.open(2000);
		again.increment("a", 5);
		assertThat(state.addCommittable(again)).isNotNull();
		assertThat(committed(state)).isEqualTo(Map.of("a", "5", "seen", "1"));
	}

	@Test
	void removalDoesNotRepeatCallsThatHaveReadKeys() {
		JournaledState state = state(Map.of("a", "@1000 1", "b", "2"), null, true);
		StateView view = state.open(1500);
		assertThat(view.keys()).containsExactly("b");
		assertThat(view.get("a", Long.class)).isEmpty();
		view.put("c", 1);

		assertThat(state.removeExpired(2000, 10)).isEqualTo(1);
		assertThat(view.keys()).containsExactly("b", "c");
		assertThat(state.addCommittable(view)).isNotNull();
	}

	@Test
	void callIsRepeatedIfAnotherOneMakesAKeyAppearAtItsTime() {
		JournaledState state = state(Map.of("a", "@1000 1", "b", "@5000 1"), null, true);
		StateView keys = state.open(1500);
		assertThat(keys.keys()).containsExactly("b");
		keys.put("c", 1);
		StateView value = state.open(1500);
		assertThat(value.get("a", Long.class)).isEmpty();
		value.put("d", 1);
		StateView other = state.open(1500);
		assertThat(other.keys()).containsExactly("b");
		other.remove("none");

		call(state, 1500, (view) -> view.put("b", 1L, SECOND.multipliedBy(9)));
		assertThat(state.addCommittable(other)).as("b expires later, and was there").isNotNull();
		call(state, 1500, (view) -> view.put("a", 2L, SECOND));
		assertThat(state.addCommittable(keys)).isNull();
		assertThat(state.addCommittable(value)).isNull();
	}

	@Test
	void savepointRestoresTheExpiry() {
		StateView view = state(Map.of(), null, false).open(0);
		view.put("a", 1L, SECOND);
		Runnable back = view.savepoint();
		view.put("a", 2L, SECOND.multipliedBy(2));
		view.put("b", 2L, SECOND.multipliedBy(2));
		back.run();
		view.increment("a", 1);

		JournaledState state = state(Map.of(), null, false);
		assertThat(state.changes(view)).isEqualTo(Map.of("a", "@1000 2"));
	}

	@Test
	void recordIsKeptWithItsExpiry() {
		JournaledState state = state(Map.of(), null, false);
		Visit visit = new Visit("ann");
		call(state, 0, (view) -> view.put("a", visit, SECOND));

		call(state, 999, (view) -> assertThat(view.get("a", Visit.class)).containsSame(visit));
		call(state, 1000, (view) -> assertThat(view.get("a", Visit.class)).isEmpty());
	}

	@Test
	void valueThatExpiresHasAVersion() {
		StateValues versioned = new StateValues(new JsonMapper(),
				List.of(StateMigration.of(Visit.class, 2, (value, from) -> value)));
		JournaledState state = new JournaledState(Map.of("old", "@5000 {\"client\":\"bob\"}"), versioned, null, false);
		call(state, 0, (view) -> {
			assertThat(view.get("old", Visit.class)).contains(new Visit("bob"));
			view.put("new", new Visit("ann"), SECOND);
		});

		assertThat(state.uncommitted())
			.isEqualTo(Map.of("new", "@1000 {\"@version\":2,\"@value\":{\"client\":\"ann\"}}"));
		call(state, 0, (view) -> assertThat(view.get("new", Visit.class)).contains(new Visit("ann")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "@", "@ 1", "@x 1", "@12", "@1234567890123456789 1", "@-5 1" })
	void whatOnlyLooksLikeAnExpiryIsNoValue(String garbage) {
		call(state(Map.of("a", garbage), null, false), 0,
				(view) -> assertThatExceptionOfType(UnreadableStateException.class)
					.isThrownBy(() -> view.get("a", Long.class)));
	}

	/**
	 * Random calls, failures, removals and steps of the clock, against a simple model.
	 */
	@RepeatedTest(200)
	void stateEqualsAModel(RepetitionInfo repetition) {
		Random random = new Random(repetition.getCurrentRepetition());
		boolean shared = random.nextBoolean();
		Duration ttl = random.nextBoolean() ? Duration.ofMillis(1 + random.nextInt(5000)) : null;
		JournaledState state = state(Map.of(), ttl, shared);
		Map<String, Expected> model = new HashMap<>();
		Map<String, String> stored = new HashMap<>();
		long now = 10_000;
		for (int step = 0; step < 100; step++) {
			now = Math.max(0, now + random.nextInt(2500) - 500);
			boolean fails = random.nextInt(4) == 0;
			Map<String, Expected> after = new HashMap<>(model);
			StateView view = state.open(now);
			for (int write = random.nextInt(12); write > 0; write--) {
				change(view, after, now, ttl, random);
			}
			view.close();
			if (!fails) {
				assertThat(state.addCommittable(view)).isNotNull();
				model = after;
			}
			if (random.nextInt(3) == 0) {
				state.removeExpired(now, 1 + random.nextInt(5));
				for (String key : List.copyOf(model.keySet())) {
					if (!state.committableEntries().containsKey(key)) {
						assertThat(model.remove(key).at).as("removed").isLessThanOrEqualTo(now);
					}
				}
				state.takeUncommitted().forEach((key, text) -> {
					if (text == null) {
						stored.remove(key);
					}
					else {
						stored.put(key, text);
					}
				});
				assertThat(stored).as("committed").isEqualTo(state.committableEntries());
			}
			assertThat(state.committableEntries().keySet()).isEqualTo(model.keySet());
		}
		assertThat(state.removeExpired(Long.MAX_VALUE - 1, 1000)).as("all that expire are in the index")
			.isEqualTo((int) model.values().stream().filter((value) -> value.at < Long.MAX_VALUE).count());
		assertThat(state.nextExpiry()).isEqualTo(Long.MAX_VALUE);
	}

	private static void change(StateView view, Map<String, Expected> model, long now, Duration ttl, Random random) {
		String key = "k" + random.nextInt(12);
		Expected before = model.get(key);
		if (before != null && before.at <= now) {
			before = null;
		}
		long newExpiry = (ttl != null) ? now + ttl.toMillis() : Long.MAX_VALUE;
		assertThat(view.get(key, Long.class).orElse(null)).isEqualTo((before != null) ? before.value : null);
		switch (random.nextInt(5)) {
			case 0 -> {
				view.put(key, 7L);
				model.put(key, new Expected(7, newExpiry));
			}
			case 1 -> {
				Duration own = Duration.ofMillis(1 + random.nextInt(4000));
				view.put(key, 9L, own);
				model.put(key, new Expected(9, now + own.toMillis()));
			}
			case 2 -> {
				view.remove(key);
				model.remove(key);
			}
			default -> {
				long sum = ((before != null) ? before.value : 0) + 1;
				assertThat(view.increment(key, 1)).isEqualTo(sum);
				model.put(key, new Expected(sum, (before != null) ? before.at : newExpiry));
			}
		}
		assertThat(view.keys()).isEqualTo(model.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().at > now)
			.map(Map.Entry::getKey)
			.collect(Collectors.toSet()));
	}

	private static JournaledState state(Map<String, String> stored, Duration ttl, boolean shared) {
		return new JournaledState(stored, VALUES, ttl, shared);
	}

	private static void call(JournaledState state, long now, Consumer<StateView> code) {
		try (StateView view = state.open(now)) {
			code.accept(view);
			assertThat(state.addCommittable(view)).isNotNull();
		}
	}

	private static Map<String, String> committed(JournaledState state) {
		return state.takeUncommitted();
	}

	private record Expected(long value, long at) {

	}

	record Visit(String client) {

	}

}
