package io.github.shardkeeper.state;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.state.value.StateValues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The class {@code Account} had dollars once, has cents now, and will have a currency.
 */
class StateMigrationTests {

	private static final JsonMapper MAPPER = new JsonMapper();

	private final Map<String, String> stored = new HashMap<>();

	@Test
	void valueStoredWithoutVersionIsUpgradedWhenReadAndStoredWhenPut() {
		this.stored.put("ann", "{\"dollars\":7}");
		JournaledState state = state(new ToCents());
		try (StateView view = state.open(0)) {
			assertThat(view.get("ann", InCents.class)).contains(new InCents(700));
			state.addCommittable(view);
		}
		assertThat(state.uncommitted()).isEmpty();
		try (StateView view = state.open(0)) {
			view.put("ann", new InCents(view.get("ann", InCents.class).orElseThrow().cents() + 1));
			state.addCommittable(view);
		}
		assertThat(state.uncommitted())
			.containsExactly(Map.entry("ann", "{\"@version\":2,\"@value\":{\"cents\":701}}"));
		try (StateView view = state.open(0)) {
			assertThat(view.get("ann", InCents.class)).contains(new InCents(701));
		}
	}

	@Test
	void everyEarlierVersionIsUpgraded() {
		this.stored.put("one", "{\"dollars\":7}");
		this.stored.put("two", "{\"@version\":2,\"@value\":{\"cents\":701}}");
		this.stored.put("three", "{\"@version\":3,\"@value\":{\"cents\":702,\"currency\":\"CHF\"}}");
		try (StateView view = state(new ToCurrency()).open(0)) {
			assertThat(view.get("one", WithCurrency.class)).contains(new WithCurrency(700, "USD"));
			assertThat(view.get("two", WithCurrency.class)).contains(new WithCurrency(701, "USD"));
			assertThat(view.get("three", WithCurrency.class)).contains(new WithCurrency(702, "CHF"));
		}
	}

	@Test
	void laterVersionIsUnreadableWhereItIsUnknown() {
		this.stored.put("ann", "{\"@version\":3,\"@value\":{\"cents\":702,\"currency\":\"CHF\"}}");
		try (StateView view = state(new ToCents()).open(0)) {
			assertThatExceptionOfType(UnreadableStateException.class).isThrownBy(() -> view.get("ann", InCents.class))
				.withMessage(
						"The state under key 'ann' cannot be read as %s: it was stored as version 3 of its class by "
								+ "another version of the application, and the StateMigration here (dollars to cents) knows "
								+ "versions up to 2",
						InCents.class.getName());
		}
		try (StateView view = state().open(0)) {
			assertThatExceptionOfType(UnreadableStateException.class).isThrownBy(() -> view.get("ann", Dollars.class))
				.withMessageEndingWith("and there is no StateMigration bean for this class here");
			assertThatExceptionOfType(UnreadableStateException.class)
				.isThrownBy(() -> view.get("ann", new TypeReference<Map<String, Object>>() {
				}));
		}
	}

	@Test
	void whoLooksAtTheJsonGetsTheValueOfAnyVersion() {
		this.stored.put("ann", "{\"@version\":3,\"@value\":{\"cents\":702,\"currency\":\"CHF\"}}");
		try (StateView view = state(new ToCents()).open(0)) {
			assertThat(view.get("ann", JsonNode.class)).hasValueSatisfying(
					(json) -> assertThat(json.toString()).isEqualTo("{\"cents\":702,\"currency\":\"CHF\"}"));
			assertThat(view.get("ann", Object.class)).contains(Map.of("cents", 702, "currency", "CHF"));
		}
	}

	@Test
	void migrationThatFailsMakesTheValueUnreadable() {
		this.stored.put("ann", "{\"pounds\":7}");
		try (StateView view = state(new ToCents()).open(0)) {
			assertThatExceptionOfType(UnreadableStateException.class).isThrownBy(() -> view.get("ann", InCents.class))
				.withMessageContaining("the StateMigration 'dollars to cents' cannot convert version 1 of it: "
						+ "java.lang.NullPointerException");
		}
		try (StateView view = state(StateMigration.of(InCents.class, 2, (json, from) -> null)).open(0)) {
			assertThatExceptionOfType(UnreadableStateException.class).isThrownBy(() -> view.get("ann", InCents.class))
				.withMessageContaining("migration of %s to version 2' cannot convert version 1 of it: ",
						InCents.class.getName())
				.withMessageContaining("null was returned");
		}
	}

	@Test
	void valueIsStoredInTheEarlierVersionDuringARollingDeployment() {
		JournaledState state = state(new ReadsCents());
		try (StateView view = state.open(0)) {
			view.put("ann", new InCents(701));
			assertThat(view.get("ann", InCents.class)).as("what the earlier version cannot say is lost")
				.contains(new InCents(700));
			state.addCommittable(view);
		}
		assertThat(state.uncommitted()).containsExactly(Map.entry("ann", "{\"dollars\":7}"));
	}

	@Test
	void whatTheEarlierVersionCannotSayIsLostAtOnce() {
		try (StateView view = state(new ReadsCents()).open(0)) {
			view.put("ann", new InCents(700));
			view.put("ann", new InCents(800));
			view.put("ann", new InCents(901));
			assertThat(view.get("ann", InCents.class)).contains(new InCents(900));
		}
	}

	@Test
	void earlierVersionThatCannotBeStoredIsRejected() {
		JournaledState state = state(new ToCents() {

			@Override
			public int storedVersion() {
				return 1;
			}

		});
		try (StateView view = state.open(0)) {
			assertThatIllegalArgumentException().isThrownBy(() -> view.put("ann", new InCents(701)))
				.withMessageStartingWith("The value for key 'ann' of type %s cannot be stored: ",
						InCents.class.getName())
				.withMessageEndingWith("downgrade(JsonNode) has to be implemented");
			assertThat(view.isUntouched()).isTrue();
		}
	}

	@Test
	void migrationAppliesToSubclassesButNotToParts() {
		this.stored.put("ann", "{\"@version\":2,\"@value\":{\"cents\":701,\"currency\":\"EUR\"}}");
		StateMigration<Account> migration = StateMigration.of(Account.class, 2,
				(json, from) -> ((ObjectNode) json).put("currency", "USD"));
		JournaledState state = state(migration);
		try (StateView view = state.open(0)) {
			assertThat(view.get("ann", WithCurrency.class)).contains(new WithCurrency(701, "EUR"));
			view.put("bob", new WithCurrency(1, "EUR"));
			view.put("all", List.of(new WithCurrency(2, "EUR")));
			assertThat(view.get("all", new TypeReference<List<WithCurrency>>() {
			})).contains(List.of(new WithCurrency(2, "EUR")));
			state.addCommittable(view);
		}
		assertThat(state.uncommitted())
			.containsEntry("bob", "{\"@version\":2,\"@value\":{\"cents\":1,\"currency\":\"EUR\"}}")
			.containsEntry("all", "[{\"cents\":2,\"currency\":\"EUR\"}]");
	}

	@Test
	void valueThatLooksLikeAVersionReadsBack() {
		Map<String, Integer> value = Map.of("@version", 9);
		JournaledState state = state();
		try (StateView view = state.open(0)) {
			view.put("ann", value);
			assertThat(view.get("ann", new TypeReference<Map<String, Integer>>() {
			})).contains(value);
			assertThat(view.get("ann", Map.class)).contains(value);
		}
	}

	@Test
	void impossibleMigrationsAreRejected() {
		assertRejected("values have no version", StateMigration.of(String.class, 2, (json, from) -> json));
		assertRejected("values have no version", StateMigration.of(int[].class, 2, (json, from) -> json));
		assertRejected("values have no version", StateMigration.of(ObjectNode.class, 2, (json, from) -> json));
		assertRejected("has version 1", StateMigration.of(InCents.class, 1, (json, from) -> json));
		assertRejected("There are two StateMigration beans for " + InCents.class.getName(), new ToCents(),
				new ReadsCents());
		assertRejected("has version 2 and stores version 3", new ToCents() {

			@Override
			public int storedVersion() {
				return 3;
			}

		});
	}

	private static void assertRejected(String problem, StateMigration<?>... migrations) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> new StateValues(MAPPER, List.of(migrations)))
			.withMessageContaining(problem);
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5 })
	void shardMovesBetweenVersionsOfAnApplication(long seed) {
		assertThat(new Deployment(seed, new ToCents(), new ReadsCents()).run()).isNull();
	}

	/** Otherwise a schedule would not notice it. */
	@Test
	void schedulesFindFaultsOfVersions() {
		StateMigration<InCents> repeated = new ToCents() {

			@Override
			public int storedVersion() {
				return 1;
			}

			@Override
			public JsonNode downgrade(JsonNode value) {
				return MAPPER.createObjectNode().put("dollars", value.get("cents").asInt());
			}

		};
		assertThat(new Deployment(1, repeated, new ReadsCents()).run()).contains("holds");
		StateMigration<InCents> early = new ToCents();
		assertThat(new Deployment(1, new ToCents(), early).run()).contains("cannot be read");
	}

	private JournaledState state(StateMigration<?>... migrations) {
		return new JournaledState(this.stored, new StateValues(MAPPER, List.of(migrations)), null, false);
	}

	/**
	 * A deployment in three steps, instance after instance, with moves of the shard to
	 * any of them: first the old class, then one that reads both forms and stores the old
	 * one, then one that stores the new one.
	 */
	private static final class Deployment {

		private final Random random;

		private final StateValues before = new StateValues(MAPPER, List.of());

		private final StateValues between;

		private final StateValues after;

		private final Map<String, String> stored = new HashMap<>();

		private final int[] dollars = new int[5];

		Deployment(long seed, StateMigration<?> after, StateMigration<?> between) {
			this.random = new Random(seed);
			this.after = new StateValues(MAPPER, List.of(after));
			this.between = new StateValues(MAPPER, List.of(between));
		}

		/** Returns what is wrong, {@code null} for nothing. */
		@Nullable String run() {
			try {
				for (List<StateValues> running : List.of(List.of(this.before, this.between),
						List.of(this.between, this.after), List.of(this.after))) {
					for (int step = 0; step < 100; step++) {
						own(running.get(this.random.nextInt(running.size())));
					}
				}
			}
			catch (UnreadableStateException ex) {
				return ex.getMessage();
			}
			int[] found = new int[this.dollars.length];
			JournaledState state = new JournaledState(this.stored, this.after, null, false);
			try (StateView view = state.open(0)) {
				for (int key = 0; key < found.length; key++) {
					found[key] = view.get("k" + key, InCents.class).orElse(new InCents(0)).cents();
				}
			}
			int[] expected = Arrays.stream(this.dollars).map((each) -> each * 100).toArray();
			return Arrays.equals(found, expected) ? null
					: "The state holds %s instead of %s".formatted(Arrays.toString(found), Arrays.toString(expected));
		}

		private void own(StateValues values) {
			JournaledState state = new JournaledState(this.stored, values, null, false);
			int key = this.random.nextInt(this.dollars.length);
			try (StateView view = state.open(0)) {
				if (values == this.before) {
					int now = view.get("k" + key, Dollars.class).orElse(new Dollars(0)).dollars();
					view.put("k" + key, new Dollars(now + 1));
				}
				else {
					int now = view.get("k" + key, InCents.class).orElse(new InCents(0)).cents();
					view.put("k" + key, new InCents(now + 100));
				}
				state.addCommittable(view);
			}
			this.dollars[key]++;
			state.takeUncommitted().forEach((each, json) -> this.stored.put(each, Objects.requireNonNull(json)));
		}

	}

	interface Account {

	}

	record Dollars(int dollars) {

	}

	record InCents(int cents) {

	}

	record WithCurrency(int cents, String currency) implements Account {

	}

	private static class ToCents implements StateMigration<InCents> {

		@Override
		public Class<InCents> type() {
			return InCents.class;
		}

		@Override
		public int version() {
			return 2;
		}

		@Override
		public JsonNode upgrade(JsonNode value, int from) {
			return MAPPER.createObjectNode().put("cents", value.get("dollars").asInt() * 100);
		}

		@Override
		public String toString() {
			return "dollars to cents";
		}

	}

	private static final class ReadsCents extends ToCents {

		@Override
		public int storedVersion() {
			return 1;
		}

		@Override
		public JsonNode downgrade(JsonNode value) {
			return MAPPER.createObjectNode().put("dollars", value.get("cents").asInt() / 100);
		}

	}

	private static final class ToCurrency implements StateMigration<WithCurrency> {

		@Override
		public Class<WithCurrency> type() {
			return WithCurrency.class;
		}

		@Override
		public int version() {
			return 3;
		}

		@Override
		public JsonNode upgrade(JsonNode value, int from) {
			JsonNode cents = (from == 1) ? new ToCents().upgrade(value, 1) : value;
			return ((ObjectNode) cents).put("currency", "USD");
		}

	}

}
