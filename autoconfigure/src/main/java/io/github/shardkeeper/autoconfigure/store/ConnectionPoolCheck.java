package io.github.shardkeeper.autoconfigure.store;

import java.util.Set;

import org.slf4j.Logger;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Consumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.jdbc.TransactionDataSources;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

/**
 * Warns at startup if calls may use up the pool of the database's connections: each call
 * holds one, and may need another one. Knows the size of HikariCP's pools only. Has no
 * state.
 */
final class ConnectionPoolCheck implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = PrintableLogger.of(ConnectionPoolCheck.class);

	/** The sources that have as many shards as the properties say. */
	private static final Set<String> COUNTED = Set.of("redis", "memory");

	private final ApplicationContext context;

	private final ShardkeeperSettings settings;

	private final SourceRegistry sources;

	private final ShardConsumerRunner runner;

	private final JdbcTransactionConfiguration.Database database;

	private final boolean virtualThreads;

	ConnectionPoolCheck(ApplicationContext context, ShardkeeperSettings settings, SourceRegistry sources,
			ShardConsumerRunner runner, JdbcTransactionConfiguration.Database database, boolean virtualThreads) {
		this.context = context;
		this.settings = settings;
		this.sources = sources;
		this.runner = runner;
		this.database = database;
		this.virtualThreads = virtualThreads;
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() != this.context) {
			return;
		}
		Integer connections = TransactionDataSources.maximumConnections(this.database.dataSource());
		long calls = calls();
		if (connections != null && connections <= calls && calls < Integer.MAX_VALUE) {
			logger
				.warn("The pool of the DataSource has {} connections, and up to {} calls hold one each at the same time. Calls "
						+ "wait for each other then, and one that needs a second connection, as for REQUIRES_NEW or "
						+ "NOT_SUPPORTED, may fail because it gets none. Set 'spring.datasource.hikari.maximum-pool-size' "
						+ "to more than {}, or {}", connections, calls, calls,
						this.virtualThreads ? "have fewer shards, or fewer calls for each with 'consumer.concurrency'"
								: "'shardkeeper.consumer.threads' to less than " + connections);
		}
	}

	/** Returns how many calls in transactions may run at the same time. */
	private long calls() {
		long calls = 0;
		for (ShardHandler handler : this.runner.handlers().values()) {
			String topic = handler.topic();
			if (this.settings.isInDatabase(topic)) {
				Consumer consumer = this.settings.consumer(topic);
				calls += shards(topic) * ((consumer.ordering() == Ordering.KEY) ? consumer.concurrency() : 1);
			}
		}
		return this.virtualThreads ? calls : Math.min(calls, this.settings.properties().consumer().threads());
	}

	/** Returns the number of shards, which this instance may all own. */
	private long shards(String topic) {
		ShardkeeperProperties.Topic configured = this.settings.properties().topics().get(topic);
		return (configured != null && COUNTED.contains(this.sources.name(topic))) ? configured.shards()
				: Integer.MAX_VALUE;
	}

}
