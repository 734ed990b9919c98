package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/** The examples of the guide of the state do what it says. */
class StateGuideTests {

	private static final ShardId SHARD = ShardId.of("visits", 0);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@RegisterExtension
	private final EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.topics.visits.shards=1",
			"shardkeeper.consumer.commit.mode=batch");

	private ShardTemplate shards;

	private ShardStateReader states;

	@Test
	void handlerKeepsProfilesAndATotal() {
		handle(Visits.class, "ann", "bob");
		handle(Visits.class, "ann");
		assertThat(stored("ann")).hasToString("{\"visits\":2}");
		assertThat(this.states.find(SHARD, "total", Long.class)).contains(3L);
	}

	@Test
	void readerReadsAllOrSomeKeys() {
		handle(Counts.class, "ann", "bob", "cyd");
		ShardId shard = this.shards.shardFor("visits", "ann");
		Map<String, Long> counts = this.states.read(shard, Long.class);
		Map<String, Long> some = this.states.read(shard, List.of("ann", "bob"), Long.class);
		Optional<Long> one = this.states.find(shard, "ann", Long.class);
		assertThat(counts).isEqualTo(Map.of("ann", 1L, "bob", 1L, "cyd", 1L));
		assertThat(some).isEqualTo(Map.of("ann", 1L, "bob", 1L));
		assertThat(one).contains(1L);
	}

	@Test
	void deploymentInTwoStepsConvertsEachValueOnce() {
		handle(Dollars.class, "ann", "bob");
		handle(FirstDeployment.class, "ann", "bob", "cyd");
		assertThat(stored("ann")).hasToString("{\"dollars\":2}");
		handle(SecondDeployment.class, "ann");
		assertThat(stored("ann")).hasToString("{\"cents\":300,\"currency\":\"USD\"}");
		assertThat(stored("bob")).as("was not put again").hasToString("{\"dollars\":2}");
		assertThat(this.states.read(SHARD, Account.class)).isEqualTo(
				Map.of("ann", new Account(300, "USD"), "bob", new Account(200, "USD"), "cyd", new Account(100, "USD")));
	}

	@Test
	void rollbackByOneDeploymentReadsEverything() {
		handle(SecondDeployment.class, "ann");
		handle(FirstDeployment.class, "ann");
		assertThat(stored("ann")).hasToString("{\"dollars\":2}");
	}

	@Test
	@Tag("proof")
	void rollbackByTwoDeploymentsHaltsTheShard() {
		handle(SecondDeployment.class, "ann");
		ConfigurableApplicationContext rolledBack = deploy(Dollars.class);
		this.shards.send("visits", "ann", new Visit("ann"));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(rolledBack.getBean(ShardkeeperHealthIndicator.class).health().getDetails())
				.asString()
				.contains("the state under key 'ann' cannot be read as " + Dollars.Money.class.getName()));
		handle(SecondDeployment.class, "bob");
		assertThat(this.states.read(SHARD, Account.class))
			.isEqualTo(Map.of("ann", new Account(200, "USD"), "bob", new Account(100, "USD")));
	}

	@Test
	void migrationsOfOneClassAreRejectedAtTheStart() {
		new ApplicationContextRunner()
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=test",
					"shardkeeper.topics.visits.shards=1")
			.withUserConfiguration(FirstDeployment.class, SecondDeployment.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining("two StateMigration beans for " + Account.class.getName()));
	}

	/** Has an instance handle a record of each client. */
	private void handle(Class<?> application, String... clients) {
		deploy(application);
		for (String client : clients) {
			JsonNode before = stored(client);
			this.shards.send("visits", client, new Visit(client));
			Awaitility.await().atMost(PATIENCE).until(() -> !stored(client).equals(before));
		}
	}

	/** The instance comes back with another version, and keeps its shard. */
	private ConfigurableApplicationContext deploy(Class<?> application) {
		this.group.started().forEach(ConfigurableApplicationContext::close);
		ConfigurableApplicationContext context = this.group.start(application, "one");
		this.states = context.getBean(ShardStateReader.class);
		this.shards = context.getBean(ShardTemplate.class);
		return context;
	}

	private JsonNode stored(String client) {
		return this.states.find(SHARD, client, JsonNode.class).orElseGet(MissingNode::getInstance);
	}

	record Visit(String client) {

	}

	record Profile(int visits) {

		static final Profile EMPTY = new Profile(0);

		Profile plus(Visit visit) {
			return new Profile(this.visits + 1);
		}

	}

	record Account(long cents, String currency) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Visits {

		@ShardConsumer("visits")
		void count(Visit visit, ShardState state) {
			Profile profile = state.get(visit.client(), Profile.class).orElse(Profile.EMPTY);
			state.put(visit.client(), profile.plus(visit));
			long total = state.increment("total", 1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Counts {

		@ShardConsumer("visits")
		void count(Visit visit, ShardState state) {
			state.increment(visit.client(), 1);
		}

	}

	/** The class before it had a version. */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Dollars {

		@ShardConsumer("visits")
		void pay(Visit visit, ShardState state) {
			Money before = state.get(visit.client(), Money.class).orElse(new Money(0));
			state.put(visit.client(), new Money(before.dollars() + 1));
		}

		record Money(long dollars) {

		}

	}

	static class Payments {

		@ShardConsumer("visits")
		void pay(Visit visit, ShardState state) {
			Account before = state.get(visit.client(), Account.class).orElse(new Account(0, "USD"));
			state.put(visit.client(), new Account(before.cents() + 100, before.currency()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class FirstDeployment {

		@Bean
		StateMigration<Account> first() {
			return new AccountMigration();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class SecondDeployment {

		@Bean
		StateMigration<Account> accounts() {
			return StateMigration.of(Account.class, 2, (value, from) -> {
				ObjectNode account = (ObjectNode) value;
				account.put("cents", account.remove("dollars").asLong() * 100);
				return account.put("currency", "USD");
			});
		}

	}

	static class AccountMigration implements StateMigration<Account> {

		@Override
		public Class<Account> type() {
			return Account.class;
		}

		@Override
		public int version() {
			return 2;
		}

		@Override
		public int storedVersion() {
			return 1;
		}

		@Override
		public JsonNode upgrade(JsonNode value, int from) {
			ObjectNode account = (ObjectNode) value;
			account.put("cents", account.remove("dollars").asLong() * 100);
			return account.put("currency", "USD");
		}

		@Override
		public JsonNode downgrade(JsonNode value) {
			ObjectNode account = (ObjectNode) value;
			account.remove("currency");
			return account.put("dollars", account.remove("cents").asLong() / 100);
		}

	}

}
