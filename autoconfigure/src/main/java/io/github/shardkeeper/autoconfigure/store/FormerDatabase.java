package io.github.shardkeeper.autoconfigure.store;

import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.PlatformTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.jdbc.JdbcDataPlane;
import io.github.shardkeeper.jdbc.TableSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The database in whose transactions topics were consumed that are not any more. Nothing
 * of it is looked for, let alone used, unless the store of the group says that a shard
 * has its checkpoint there. Thread-safe.
 */
public final class FormerDatabase implements AutoCloseable {

	private final Supplier<CheckpointStore> opening;

	private @Nullable CheckpointStore opened;

	FormerDatabase(Supplier<CheckpointStore> opening) {
		this.opening = opening;
	}

	/**
	 * Returns its checkpoints, as they are.
	 * @throws StoreUnavailableException as a refusal if the application does not say
	 * which database that is
	 */
	synchronized CheckpointStore checkpoints() {
		if (this.opened == null) {
			try {
				this.opened = this.opening.get();
			}
			catch (ShardkeeperConfigurationException ex) {
				throw new StoreUnavailableException(
						"A shard was consumed with 'consumer.transaction: jdbc', and its checkpoint is in the application's database, which cannot be found. %s %s"
							.formatted(ex.getDescription(), ex.getAction()),
						ex, true);
			}
		}
		return this.opened;
	}

	@Override
	public synchronized void close() {
		if (this.opened != null) {
			this.opened.close();
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ JdbcDataPlane.class, EmbeddedDatabaseConnection.class })
	public static class WithDatabase {

		@Bean
		@Lazy
		FormerDatabase shardkeeperFormerDatabase(ShardkeeperSettings settings, CoordinationSettings coordination,
				ListableBeanFactory beans, ObjectProvider<PlatformTransactionManager> managers,
				ObjectProvider<DataSource> dataSources) {
			return new FormerDatabase(() -> {
				JdbcTransactionConfiguration.Database database = JdbcTransactionConfiguration.WithDatabase
					.database(settings, beans, managers, dataSources);
				ShardkeeperProperties.Jdbc jdbc = settings.properties().jdbc();
				return new JdbcDataPlane(database.transactionManager(), database.dataSource(),
						new TableSettings(jdbc.tablePrefix(), false), coordination.group(), jdbc.lockWait())
					.checkpoints(null);
			});
		}

	}

}
