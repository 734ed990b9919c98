package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Transactions of the store. A transaction of the application in which a step is made
 * does not contain it: its own end must not decide about it. Thread-safe.
 */
final class StoreTransactions {

	private static final int ATTEMPTS = 10;

	private final PlatformTransactionManager transactionManager;

	private final DataSource dataSource;

	private final TransactionTemplate transactions;

	private final JdbcTemplate jdbc;

	private final JdbcTemplate jdbcUnderLock;

	private final Duration lockWait;

	private final TableSettings tables;

	private final OutageLog outages;

	/** Name of the database, {@code null} if it is not known yet. */
	private volatile @Nullable String database;

	/** What has to succeed before the next step, {@code null} for nothing. */
	private volatile @Nullable Runnable preparation;

	/**
	 * Creates the transactions.
	 * @param group the group, for the log
	 */
	StoreTransactions(PlatformTransactionManager transactionManager, DataSource dataSource, Duration lockWait,
			TableSettings tables, String group) {
		this.transactionManager = transactionManager;
		this.dataSource = unwrapped(dataSource);
		this.lockWait = lockWait;
		this.tables = tables;
		this.outages = new OutageLog(group, MonotonicClock.SYSTEM);
		this.transactions = new TransactionTemplate(transactionManager);
		this.transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.jdbcUnderLock = new JdbcTemplate(this.dataSource);
		this.jdbc = new JdbcTemplate(this.dataSource);
		// Also limits the wait for a lock.
		this.jdbc.setQueryTimeout((int) Math.max(1, lockWait.toSeconds()));
	}

	/** Transactions are bound to the data source behind the proxy. */
	private static DataSource unwrapped(DataSource dataSource) {
		DataSource target = (dataSource instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: null;
		return (target != null) ? target : dataSource;
	}

	/**
	 * Returns the template for statements that need no time limit, which costs a timer
	 * for each: writes in a transaction that has the lock of the shard's row, and the one
	 * that takes it with {@link LockWaits}.
	 */
	JdbcTemplate jdbcUnderLock() {
		return this.jdbcUnderLock;
	}

	/** Returns the template for statements in the current transaction. */
	JdbcTemplate jdbc() {
		return this.jdbc;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	Duration lockWait() {
		return this.lockWait;
	}

	TransactionTemplate transactions() {
		return this.transactions;
	}

	/**
	 * Sets what has to succeed before the next step, because the database was away at
	 * startup. May run on several threads at the same time.
	 */
	void prepareLater(Runnable preparation) {
		this.preparation = preparation;
	}

	/**
	 * Makes up for what could not be done at startup.
	 * @throws StoreUnavailableException if that still fails
	 */
	void prepare() {
		Runnable preparation = this.preparation;
		if (preparation == null) {
			return;
		}
		try {
			preparation.run();
		}
		catch (ShardkeeperConfigurationException ex) {
			throw new StoreUnavailableException(ex.getDescription() + " " + ex.getAction(), ex, true);
		}
		this.preparation = null;
	}

	/**
	 * Makes a step in a transaction of its own, again if another one has interfered.
	 * @param what the step, as a verb with its object, for messages
	 * @throws StoreUnavailableException if the database cannot be used
	 */
	<T> T run(String what, Supplier<T> step) {
		prepare();
		return runNow(what, step);
	}

	/** Returns whether this thread is in a transaction of a call. */
	boolean isInCall() {
		return TransactionSynchronizationManager.hasResource(this.dataSource);
	}

	/**
	 * Makes a step and takes it back: whether the database works is found out by what it
	 * does, not by the failure of somebody else's statement.
	 * @throws StoreUnavailableException if the database cannot be used
	 */
	void tryOut(String what, Runnable step) {
		prepare();
		runNow(what, (status) -> {
			step.run();
			status.setRollbackOnly();
			return true;
		});
	}

	/** Makes a step of the preparation itself. */
	<T> T runNow(String what, Supplier<T> step) {
		return runNow(what, (status) -> step.get());
	}

	private <T> T runNow(String what, TransactionCallback<T> step) {
		for (int attempt = 1;; attempt++) {
			try {
				T result = this.transactions.execute((status) -> {
					requireTransaction();
					return step.doInTransaction(status);
				});
				if (result == null) {
					throw new IllegalStateException("A step without a result: " + what);
				}
				succeeded();
				return result;
			}
			catch (DataAccessException | TransactionException ex) {
				if (attempt == ATTEMPTS || !DatabaseFailure.isConflict(ex)) {
					throw explain(what, ex);
				}
			}
		}
	}

	/** Notes that a transaction was committed. */
	void succeeded() {
		this.outages.succeeded();
	}

	/** Returns the failure of a step as one of the store, with what to do. */
	StoreUnavailableException explain(String what, Throwable failure) {
		StoreUnavailableException explained = DatabaseFailure.explain(what, failure, this.lockWait, this.tables,
				knownDatabase());
		if (!explained.isRefusal() && !DatabaseFailure.isConflict(failure) && !DatabaseFailure.isLockWait(failure)) {
			this.outages.failed(explained);
		}
		return explained;
	}

	/** Returns the failure of a call that has lost its connection. */
	DataAccessException lostConnection(Throwable failure) {
		return DatabaseFailure.lostConnection(failure, knownDatabase());
	}

	private String knownDatabase() {
		String known = this.database;
		return (known != null) ? known : "<database>";
	}

	/** Returns the isolation level of the current transaction, as in JDBC. */
	int isolation() {
		Integer level = this.jdbc.execute((ConnectionCallback<Integer>) Connection::getTransactionIsolation);
		return Objects.requireNonNull(level);
	}

	/**
	 * Returns the name of the database, as in the name of its script. In a transaction.
	 */
	String database() {
		String known = this.database;
		if (known == null) {
			known = Objects.requireNonNull(
					this.jdbc.execute((ConnectionCallback<String>) (connection) -> database(connection.getMetaData())));
			this.database = known;
		}
		return known;
	}

	private static String database(DatabaseMetaData about) throws SQLException {
		String product = about.getDatabaseProductName().toLowerCase(Locale.ROOT);
		return product.startsWith("microsoft") ? "sqlserver" : product;
	}

	/** Returns the name of an isolation level of JDBC. */
	static String name(int isolation) {
		return switch (isolation) {
			case Connection.TRANSACTION_NONE -> "off";
			case Connection.TRANSACTION_READ_UNCOMMITTED -> "READ UNCOMMITTED";
			case Connection.TRANSACTION_READ_COMMITTED -> "READ COMMITTED";
			case Connection.TRANSACTION_REPEATABLE_READ -> "REPEATABLE READ";
			case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
			default -> "of the database's own level " + isolation;
		};
	}

	/**
	 * Checks that statements of {@link #jdbc()} are part of the current transaction.
	 * @throws ShardkeeperConfigurationException if they are not
	 */
	void requireTransaction() {
		if (!TransactionSynchronizationManager.hasResource(this.dataSource)) {
			throw new ShardkeeperConfigurationException(
					"The transactions of %s do not contain statements of the DataSource %s."
						.formatted(this.transactionManager.getClass().getName(), this.dataSource),
					"Set 'shardkeeper.jdbc.transaction-manager' to the name of the PlatformTransactionManager bean of the "
							+ "primary DataSource. A JpaTransactionManager has to know that DataSource; JTA and reactive "
							+ "transaction managers are not supported.");
		}
	}

}
