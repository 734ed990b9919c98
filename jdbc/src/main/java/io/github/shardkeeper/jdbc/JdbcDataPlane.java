package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.time.InstantSource;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.transaction.PlatformTransactionManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Data plane of one group in the database of the application, in the tables
 * {@code shardkeeper_shard}, {@code shardkeeper_state}, {@code shardkeeper_timer},
 * {@code shardkeeper_retry}, {@code shardkeeper_dead_letter}, {@code shardkeeper_topic},
 * {@code shardkeeper_outbox} and {@code shardkeeper_sequence}. Its times are those of the
 * instances' clocks. Thread-safe.
 */
public final class JdbcDataPlane {

	private static final Logger logger = PrintableLogger.of(JdbcDataPlane.class);

	private final TableSettings settings;

	private final StoreTransactions steps;

	private final SchemaInitializer tables;

	private final CheckpointTable shards;

	private final ShardDataTables contents;

	private final OutboxTables outbox;

	private final String topics;

	private final TransactionMarks marks;

	private final String group;

	private final InstantSource clock;

	/**
	 * Creates a data plane; uses the database when it is first used.
	 * @param transactionManager the application's transactions
	 * @param dataSource the data source of these transactions
	 * @param tables the tables
	 * @param lockWait the maximum time that a statement waits, in whole seconds
	 */
	public JdbcDataPlane(PlatformTransactionManager transactionManager, DataSource dataSource, TableSettings tables,
			String group, Duration lockWait) {
		this(transactionManager, dataSource, tables, group, lockWait, InstantSource.system());
	}

	JdbcDataPlane(PlatformTransactionManager transactionManager, DataSource dataSource, TableSettings tables,
			String group, Duration lockWait, InstantSource clock) {
		this.settings = tables;
		this.steps = new StoreTransactions(transactionManager, dataSource, lockWait, tables, group);
		this.tables = new SchemaInitializer(this.steps, tables);
		String prefix = tables.prefix();
		this.shards = new CheckpointTable(this.steps.jdbc(), this.steps.jdbcUnderLock(), new LockWaits(lockWait),
				prefix, group);
		this.contents = new ShardDataTables(this.steps, prefix, this.shards);
		this.outbox = new OutboxTables(this.steps, this.tables, tables, this.shards);
		this.topics = prefix + "topic";
		this.marks = new TransactionMarks(this.steps, this.topics);
		this.group = group;
		this.clock = clock;
	}

	/**
	 * Opens the checkpoints.
	 * @param earlier the store from which the checkpoint of a shard that has no row yet
	 * is taken over; {@code null} for none
	 */
	public CheckpointStore checkpoints(@Nullable CheckpointStore earlier) {
		return new JdbcCheckpointStore(this, earlier);
	}

	/** Opens the dead letters. */
	public DeadLetterStore deadLetters() {
		return new JdbcDeadLetterStore(this);
	}

	/**
	 * Checks that the transactions contain statements of the data source, that they are
	 * {@code READ COMMITTED} if calls of a shard are made at the same time (above it, a
	 * transaction cannot write a row that another one has written since it began), that
	 * the tables exist, and that the driver counts the rows that an update finds. Creates
	 * the tables that do not exist, if the settings say so. If the database cannot be
	 * reached, that is done before it is used, and its failure is the problem of the
	 * shards.
	 * @param concurrent a topic whose handler has several calls for a shard at a time,
	 * {@code null} for none
	 * @throws ShardkeeperConfigurationException if transactions, tables, driver or the
	 * rights of the database's user do not suffice
	 */
	public void prepare(@Nullable String concurrent) {
		try {
			prepareNow(concurrent);
		}
		catch (StoreUnavailableException ex) {
			logger.warn("The transactions and tables of the database are checked as soon as it replies. {}",
					ex.getMessage());
			this.steps.prepareLater(() -> prepareNow(concurrent));
		}
	}

	private void prepareNow(@Nullable String concurrent) {
		int isolation = this.steps.runNow("begin a transaction", this.steps::isolation);
		if (concurrent != null && isolation != Connection.TRANSACTION_READ_COMMITTED) {
			throw new ShardkeeperConfigurationException(
					"The topic '%s' has 'consumer.transaction: jdbc' and 'consumer.ordering: key', but the transactions of the DataSource are %s: calls of different keys would roll each other back."
						.formatted(concurrent, StoreTransactions.name(isolation)),
					"Set 'spring.datasource.hikari.transaction-isolation' to 'TRANSACTION_READ_COMMITTED' (MySQL and MariaDB have another default), or the ordering to 'shard'.");
		}
		if (this.settings.created()) {
			this.tables.create();
		}
		else {
			this.tables.require();
		}
		requireCountsOfFoundRows();
	}

	private void requireCountsOfFoundRows() {
		if (countsChangedRows()) {
			throw new ShardkeeperConfigurationException(
					"The driver of the DataSource has 'useAffectedRows=true', so an update that finds a row and leaves it as it is counts none. 'consumer.transaction: jdbc' recognizes by that count whether a row exists.",
					"Remove 'useAffectedRows' from 'spring.datasource.url' and from the properties of the driver, such as those in 'spring.datasource.hikari.data-source-properties'.");
		}
	}

	private boolean countsChangedRows() {
		try {
			return this.steps.runNow("count the rows of an update", this.marks::countsChangedRows);
		}
		catch (StoreUnavailableException ex) {
			if (ex.isRefusal()) {
				// As every call will be, until somebody has done what the problem says.
				return false;
			}
			throw ex;
		}
	}

	StoreTransactions steps() {
		return this.steps;
	}

	CheckpointTable shards() {
		return this.shards;
	}

	ShardDataTables contents() {
		return this.contents;
	}

	OutboxTables outbox() {
		return this.outbox;
	}

	TransactionMarks marks() {
		return this.marks;
	}

	/** Returns the name of the table of topics. */
	String topics() {
		return this.topics;
	}

	String group() {
		return this.group;
	}

	InstantSource clock() {
		return this.clock;
	}

}
