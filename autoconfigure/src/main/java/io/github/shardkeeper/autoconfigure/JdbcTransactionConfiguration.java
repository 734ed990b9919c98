package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.DatabaseInitializationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointsByTopic;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLettersByTopic;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.jdbc.JdbcDataPlane;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.worker.ConsumerSettings.Ordering;

/**
 * Data plane of the topics whose handlers are called in transactions of the application's
 * database. Its beans stand before those of the group's store, which has all other
 * topics.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(JdbcTransactionConfiguration.OnJdbcTransaction.class)
class JdbcTransactionConfiguration {

	private static final String CHECKPOINTS = "shardkeeperTransactedCheckpointStore";

	private static final String LETTERS = "shardkeeperTransactedDeadLetterStore";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JdbcDataPlane.class, DataSourceScriptDatabaseInitializer.class })
	static class WithDatabase {

		@Bean
		Database shardkeeperDatabase(ShardkeeperSettings settings, ListableBeanFactory beans,
				ObjectProvider<PlatformTransactionManager> managers, ObjectProvider<DataSource> dataSources) {
			PlatformTransactionManager manager = transactionManager(settings, beans, managers);
			if (manager instanceof ResourceTransactionManager resources
					&& resources.getResourceFactory() instanceof DataSource dataSource) {
				return new Database(manager, dataSource);
			}
			DataSource dataSource = dataSources.getIfUnique();
			if (dataSource == null) {
				throw new ShardkeeperConfigurationException(
						"A topic has 'consumer.transaction: jdbc', but there is no DataSource bean, or none of several is primary.",
						"Mark the DataSource of the transactions as @Primary, or set 'shardkeeper.jdbc.transaction-manager' to the JdbcTransactionManager of the right one.");
			}
			return new Database(manager, dataSource);
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
				CoordinationSettings coordination, ListableBeanFactory beans) throws Exception {
			ShardkeeperProperties.Jdbc jdbc = settings.properties().jdbc();
			new TablesInitializer(database.dataSource(), jdbc).afterPropertiesSet();
			JdbcDataPlane plane = new JdbcDataPlane(database.transactionManager(), database.dataSource(),
					jdbc.tablePrefix(), coordination.group(), jdbc.lockWait());
			plane.checkTransactions(concurrentTopic(settings));
			CheckpointStore group = group(beans, CheckpointStore.class, CHECKPOINTS);
			if (group == null) {
				throw new IllegalStateException("There is no store of the group");
			}
			return new TransactedStores(settings, group, plane.checkpoints(group),
					group(beans, DeadLetterStore.class, LETTERS), plane.deadLetters());
		}

		private static @Nullable String concurrentTopic(ShardkeeperSettings settings) {
			return settings.topics(CallTransaction.JDBC)
				.stream()
				.filter((topic) -> settings.consumers().apply(topic).ordering() == Ordering.KEY)
				.sorted()
				.findFirst()
				.orElse(null);
		}

		private static <S> @Nullable S group(ListableBeanFactory beans, Class<S> type, String other) {
			for (String name : beans.getBeanNamesForType(type, true, false)) {
				if (!name.equals(other)) {
					return beans.getBean(name, type);
				}
			}
			return null;
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
	@ConditionalOnMissingClass("org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer")
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
			this.checkpoints = byDefault ? new CheckpointsByTopic(database, others, group)
					: new CheckpointsByTopic(group, others, database);
			this.database = database;
			this.databaseLetters = databaseLetters;
			DeadLetterStore ofGroup = (groupLetters != null) ? groupLetters : databaseLetters;
			this.letters = byDefault ? new DeadLettersByTopic(databaseLetters, others, ofGroup)
					: new DeadLettersByTopic(ofGroup, others, databaseLetters);
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

	/** Creates the tables under their configured names. Confined to startup. */
	private static final class TablesInitializer
			extends PropertiesBasedDataSourceScriptDatabaseInitializer<TablesInitializer.Properties> {

		private static final String STANDARD_PREFIX = "shardkeeper_";

		private final String prefix;

		TablesInitializer(DataSource dataSource, ShardkeeperProperties.Jdbc jdbc) {
			super(dataSource, new Properties(jdbc.initializeSchema()));
			this.prefix = jdbc.tablePrefix();
		}

		@Override
		protected void runScripts(Scripts scripts) {
			List<Resource> renamed = new ArrayList<>();
			scripts.forEach((script) -> renamed.add(renamed(script)));
			super.runScripts(new Scripts(renamed).continueOnError(scripts.isContinueOnError())
				.separator(scripts.getSeparator())
				.encoding(scripts.getEncoding()));
		}

		private Resource renamed(Resource script) {
			try {
				return new ByteArrayResource(script.getContentAsString(StandardCharsets.UTF_8)
					.replace(STANDARD_PREFIX, this.prefix)
					.getBytes(StandardCharsets.UTF_8), script.getDescription());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private static final class Properties extends DatabaseInitializationProperties {

			Properties(ShardkeeperProperties.InitializeSchema mode) {
				setInitializeSchema(switch (mode) {
					case EMBEDDED -> DatabaseInitializationMode.EMBEDDED;
					case ALWAYS -> DatabaseInitializationMode.ALWAYS;
					case NEVER -> DatabaseInitializationMode.NEVER;
				});
			}

			@Override
			public String getDefaultSchemaLocation() {
				return "classpath:io/github/shardkeeper/jdbc/schema-@@platform@@.sql";
			}

		}

	}

	static class OnJdbcTransaction implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			Binder binder = Binder.get(context.getEnvironment());
			return isJdbc(binder.bind("shardkeeper.consumer.transaction", String.class).orElse(null))
					|| binder.bind("shardkeeper.topics", Bindable.mapOf(String.class, TopicTransaction.class))
						.orElseGet(TreeMap::new)
						.values()
						.stream()
						.anyMatch((topic) -> topic.consumer() != null && isJdbc(topic.consumer().transaction()));
		}

		private static boolean isJdbc(@Nullable String transaction) {
			return "jdbc".equalsIgnoreCase(transaction);
		}

	}

	/** The only property of a topic that decides about these beans. */
	record TopicTransaction(@Nullable ConsumerTransaction consumer) {

	}

	record ConsumerTransaction(@Nullable String transaction) {

	}

}
