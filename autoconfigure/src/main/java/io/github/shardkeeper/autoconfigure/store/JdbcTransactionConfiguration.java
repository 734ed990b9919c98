package io.github.shardkeeper.autoconfigure.store;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.routing.RoutingCheckpointStore;
import io.github.shardkeeper.checkpoint.routing.RoutingDeadLetterStore;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.jdbc.JdbcDataPlane;
import io.github.shardkeeper.jdbc.JdbcRuntimeHints;
import io.github.shardkeeper.jdbc.TableSettings;
import io.github.shardkeeper.jdbc.TransactionDataSources;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

/**
 * Data plane of the topics whose handlers are called in transactions of the application's
 * database. Its beans stand before those of the group's store, which has all other
 * topics.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(JdbcTransactionConfiguration.OnJdbcTransaction.class)
public class JdbcTransactionConfiguration {

	private static final Logger logger = PrintableLogger.of(JdbcTransactionConfiguration.class);

	private static final String CHECKPOINTS = "shardkeeperTransactedCheckpointStore";

	private static final String LETTERS = "shardkeeperTransactedDeadLetterStore";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JdbcDataPlane.class, EmbeddedDatabaseConnection.class })
	@ImportRuntimeHints(JdbcRuntimeHints.class)
	static class WithDatabase {

		@Bean
		Database shardkeeperDatabase(ShardkeeperSettings settings, ListableBeanFactory beans,
				ObjectProvider<PlatformTransactionManager> managers, ObjectProvider<DataSource> dataSources) {
			return database(settings, beans, managers, dataSources);
		}

		/** Returns the only one that can be meant. */
		static Database database(ShardkeeperSettings settings, ListableBeanFactory beans,
				ObjectProvider<PlatformTransactionManager> managers, ObjectProvider<DataSource> dataSources) {
			PlatformTransactionManager manager = transactionManager(settings, beans, managers);
			DataSource bound = TransactionDataSources.of(manager);
			DataSource injected = dataSources.getIfUnique();
			if (bound == null && injected == null) {
				throw new ShardkeeperConfigurationException(
						"A topic has 'consumer.transaction: jdbc', but there is no DataSource bean, or none of several is primary.",
						"Mark the DataSource of the transactions as @Primary, or set 'shardkeeper.jdbc.transaction-manager' to the JdbcTransactionManager of the right one.");
			}
			if (bound != null && injected != null && !TransactionDataSources.takesPart(injected, bound)
					&& !StringUtils.hasText(settings.properties().jdbc().transactionManager())) {
				throw beside(beans, manager, bound, injected);
			}
			if (bound != null && injected == null
					&& !StringUtils.hasText(settings.properties().jdbc().transactionManager())) {
				warnOfOthers(beans, manager, bound);
			}
			return new Database(manager, (bound != null) ? bound : Objects.requireNonNull(injected));
		}

		/** What handlers write with the injected one would not be rolled back. */
		private static ShardkeeperConfigurationException beside(ListableBeanFactory beans,
				PlatformTransactionManager manager, DataSource bound, DataSource injected) {
			String managerName = name(beans, PlatformTransactionManager.class, manager);
			String injectedName = name(beans, DataSource.class, injected);
			String boundName = name(beans, DataSource.class, bound);
			String action = "If handlers write to '%s', declare a JdbcTransactionManager bean for exactly this bean, and set 'shardkeeper.jdbc.transaction-manager' to its name."
				.formatted(injectedName);
			return new ShardkeeperConfigurationException(
					"A topic has 'consumer.transaction: jdbc', and the transactions of the PlatformTransactionManager '%s' are those of %s. But the DataSource that is injected by default is '%s', whose statements are not a part of these transactions."
						.formatted(managerName,
								(boundName != null) ? "the DataSource '%s'".formatted(boundName)
										: "a %s that is no bean".formatted(bound.getClass().getSimpleName()),
								injectedName),
					(boundName != null) ? action
							+ " If they write to '%1$s', mark it as @Primary; or inject it by its name in all of them, and set 'shardkeeper.jdbc.transaction-manager' to '%2$s'."
								.formatted(boundName, managerName)
							: action);
		}

		/** What handlers write with another one is at least once, which may be meant. */
		private static void warnOfOthers(ListableBeanFactory beans, PlatformTransactionManager manager,
				DataSource bound) {
			List<String> others = Stream.of(beans.getBeanNamesForType(DataSource.class, true, false))
				.filter((name) -> !TransactionDataSources.takesPart(beans.getBean(name, DataSource.class), bound))
				.sorted()
				.toList();
			String managerName = name(beans, PlatformTransactionManager.class, manager);
			if (!others.isEmpty() && managerName != null) {
				logger
					.warn("A topic has 'consumer.transaction: jdbc', and none of several DataSource beans is primary. What handlers "
							+ "write with {} is not a part of their transactions: it is at least once. Mark the one of the "
							+ "PlatformTransactionManager '{}' as @Primary; or, if they write with no other one, set "
							+ "'shardkeeper.jdbc.transaction-manager' to '{}'", others, managerName, managerName);
			}
		}

		private static <B> @Nullable String name(ListableBeanFactory beans, Class<B> type, B bean) {
			for (String name : beans.getBeanNamesForType(type, true, false)) {
				if (beans.getBean(name) == bean) {
					return name;
				}
			}
			return null;
		}

		private static PlatformTransactionManager transactionManager(ShardkeeperSettings settings,
				ListableBeanFactory beans, ObjectProvider<PlatformTransactionManager> managers) {
			String name = settings.properties().jdbc().transactionManager();
			if (!StringUtils.hasText(name)) {
				PlatformTransactionManager only = managers.getIfUnique();
				if (only != null) {
					return only;
				}
				throw new ShardkeeperConfigurationException(
						"A topic has 'consumer.transaction: jdbc', but there is no PlatformTransactionManager bean, or none of several is primary.",
						"Add spring-boot-starter-jdbc and a database, mark one of the beans as @Primary, or set 'shardkeeper.jdbc.transaction-manager' to its name.");
			}
			if (!beans.containsBean(name) || !beans.isTypeMatch(name, PlatformTransactionManager.class)) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.jdbc.transaction-manager' is '%s', but there is no PlatformTransactionManager bean of that name."
							.formatted(name),
						"Write one of %s, or leave the property out."
							.formatted(List.of(beans.getBeanNamesForType(PlatformTransactionManager.class))));
			}
			return beans.getBean(name, PlatformTransactionManager.class);
		}

		/**
		 * Creates the tables itself: a bean that creates them would come before the
		 * EntityManagerFactory, and after the transaction manager, which with JPA comes
		 * after the EntityManagerFactory. Migrations of the application come before.
		 */
		@Bean
		@DependsOnDatabaseInitialization
		TransactedStores shardkeeperTransactedStores(Database database, ShardkeeperSettings settings,
				CoordinationSettings coordination, ListableBeanFactory beans) {
			ShardkeeperProperties.Jdbc jdbc = settings.properties().jdbc();
			boolean created = switch (jdbc.initializeSchema()) {
				case ALWAYS -> true;
				case EMBEDDED -> EmbeddedDatabaseConnection.isEmbedded(database.dataSource());
				case NEVER -> false;
			};
			JdbcDataPlane plane = new JdbcDataPlane(database.transactionManager(), database.dataSource(),
					new TableSettings(jdbc.tablePrefix(), created), coordination.group(), jdbc.lockWait());
			plane.prepare(concurrentTopic(settings));
			CheckpointStore group = group(beans, CheckpointStore.class, CHECKPOINTS);
			if (group == null) {
				throw new IllegalStateException("There is no store of the group");
			}
			return new TransactedStores(settings, group, plane.checkpoints(group),
					group(beans, DeadLetterStore.class, LETTERS), plane.deadLetters());
		}

		@Bean
		ConnectionPoolCheck shardkeeperConnectionPoolCheck(ApplicationContext context, ShardkeeperSettings settings,
				SourceRegistry sources, ShardConsumerRunner runner, Database database, Environment environment) {
			return new ConnectionPoolCheck(context, settings, sources, runner, database,
					Threading.VIRTUAL.isActive(environment));
		}

		private static @Nullable String concurrentTopic(ShardkeeperSettings settings) {
			return settings.topics(CallTransaction.JDBC)
				.stream()
				.filter((topic) -> settings.consumer(topic).ordering() == Ordering.KEY)
				.sorted()
				.findFirst()
				.orElse(null);
		}

		private static <S> @Nullable S group(ListableBeanFactory beans, Class<S> type, String other) {
			List<String> names = Stream.of(beans.getBeanNamesForType(type, true, false))
				.filter((name) -> !name.equals(other))
				.toList();
			if (names.size() > 1) {
				throw new ShardkeeperConfigurationException(
						"There are several %s beans for topics without 'consumer.transaction: jdbc': %s."
							.formatted(type.getSimpleName(), String.join(", ", names)),
						"Keep one of them.");
			}
			return names.isEmpty() ? null : beans.getBean(names.get(0), type);
		}

		@Bean(name = CHECKPOINTS)
		@Primary
		CheckpointStore shardkeeperTransactedCheckpointStore(TransactedStores stores) {
			return stores.checkpoints();
		}

		@Bean(name = LETTERS)
		@Primary
		DeadLetterStore shardkeeperTransactedDeadLetterStore(TransactedStores stores) {
			return stores.letters();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("io.github.shardkeeper.jdbc.JdbcDataPlane")
	static class WithoutModule {

		@Bean(name = CHECKPOINTS)
		@Primary
		CheckpointStore shardkeeperTransactedCheckpointStore() {
			throw missing("shardkeeper-jdbc", "io.github.shardkeeper:shardkeeper-jdbc");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "io.github.shardkeeper.jdbc.JdbcDataPlane")
	@ConditionalOnMissingClass("org.springframework.boot.jdbc.EmbeddedDatabaseConnection")
	static class WithoutDatabase {

		@Bean(name = CHECKPOINTS)
		@Primary
		CheckpointStore shardkeeperTransactedCheckpointStore() {
			throw missing("spring-boot-jdbc", "org.springframework.boot:spring-boot-starter-jdbc");
		}

	}

	private static ShardkeeperConfigurationException missing(String module, String dependency) {
		return new ShardkeeperConfigurationException(
				"A topic has 'consumer.transaction: jdbc', but '%s' is not on the class path.".formatted(module),
				"Add the dependency '%s', or set the transaction to 'none'.".formatted(dependency));
	}

	/** The transactions, and the data source that takes part in them. */
	record Database(PlatformTransactionManager transactionManager, DataSource dataSource) {

	}

	/** Both data planes. Thread-safe. */
	static final class TransactedStores implements AutoCloseable {

		private final CheckpointStore checkpoints;

		private final CheckpointStore database;

		private final DeadLetterStore letters;

		private final DeadLetterStore databaseLetters;

		TransactedStores(ShardkeeperSettings settings, CheckpointStore group, CheckpointStore database,
				@Nullable DeadLetterStore groupLetters, DeadLetterStore databaseLetters) {
			boolean byDefault = settings.properties().consumer().transaction() == CallTransaction.JDBC;
			Set<String> others = settings.topics(byDefault ? CallTransaction.NONE : CallTransaction.JDBC);
			this.checkpoints = byDefault ? new RoutingCheckpointStore(database, others, group)
					: new RoutingCheckpointStore(group, others, database);
			this.database = database;
			this.databaseLetters = databaseLetters;
			DeadLetterStore ofGroup = (groupLetters != null) ? groupLetters : databaseLetters;
			this.letters = byDefault ? new RoutingDeadLetterStore(databaseLetters, others, ofGroup)
					: new RoutingDeadLetterStore(ofGroup, others, databaseLetters);
		}

		CheckpointStore checkpoints() {
			return this.checkpoints;
		}

		DeadLetterStore letters() {
			return this.letters;
		}

		@Override
		public void close() {
			this.databaseLetters.close();
			this.database.close();
		}

	}

	public static class OnJdbcTransaction implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return isConfigured(context.getEnvironment());
		}

		/** Binds the values as the properties do, so that both understand the same. */
		public static boolean isConfigured(Environment environment) {
			Binder binder = Binder.get(environment);
			return binder.bind("shardkeeper.consumer.transaction", CallTransaction.class)
				.orElse(CallTransaction.NONE) == CallTransaction.JDBC
					|| binder.bind("shardkeeper.topics", Bindable.mapOf(String.class, TopicTransaction.class))
						.orElseGet(TreeMap::new)
						.values()
						.stream()
						.anyMatch((topic) -> topic.consumer() != null
								&& topic.consumer().transaction() == CallTransaction.JDBC);
		}

	}

	/** The only property of a topic that decides about these beans. */
	record TopicTransaction(@Nullable ConsumerTransaction consumer) {

	}

	record ConsumerTransaction(@Nullable CallTransaction transaction) {

	}

}
