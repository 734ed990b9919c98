package io.github.shardkeeper.jdbc;

import java.util.List;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Data sources whose statements are a part of a transaction manager's transactions, and
 * their connections. Has no state.
 */
public final class TransactionDataSources {

	private static final Logger logger = PrintableLogger.of(TransactionDataSources.class);

	private TransactionDataSources() {
	}

	/**
	 * Returns the data source to whose connections the transactions of a manager are
	 * bound. A manager that does not name it, such as that of JPA, is asked for a
	 * transaction.
	 * @return the data source; {@code null} if there is none, several, or no connection
	 */
	public static @Nullable DataSource of(PlatformTransactionManager manager) {
		if (manager instanceof ResourceTransactionManager resources
				&& resources.getResourceFactory() instanceof DataSource dataSource) {
			return dataSource;
		}
		TransactionTemplate transactions = new TransactionTemplate(manager);
		transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		try {
			List<DataSource> bound = transactions.execute((status) -> bound());
			return (bound != null && bound.size() == 1) ? bound.get(0) : null;
		}
		catch (DataAccessException | TransactionException ex) {
			logger.debug("The DataSource of the transactions is not known yet", ex);
			return null;
		}
	}

	private static List<DataSource> bound() {
		return TransactionSynchronizationManager.getResourceMap()
			.entrySet()
			.stream()
			.filter((resource) -> resource.getKey() instanceof DataSource
					&& resource.getValue() instanceof ConnectionHolder)
			.map((resource) -> (DataSource) resource.getKey())
			.toList();
	}

	/**
	 * Returns whether statements of a data source are a part of transactions that are
	 * bound to another one: it is that one, or it looks for its transaction before it
	 * opens a connection. Any other wrapper opens connections beside the transaction.
	 */
	public static boolean takesPart(DataSource dataSource, DataSource bound) {
		Object resource = TransactionSynchronizationUtils.unwrapResourceIfNecessary(dataSource);
		return resource.equals(TransactionSynchronizationUtils.unwrapResourceIfNecessary(bound))
				|| resource instanceof DelegatingDataSource wrapper && opensPart(wrapper, bound);
	}

	/**
	 * Returns the maximum number of connections of a data source.
	 * @return the number; {@code null} if it is not known, above all if HikariCP is not
	 * its pool
	 */
	public static @Nullable Integer maximumConnections(DataSource dataSource) {
		return HikariPools.maximumSize(dataSource);
	}

	/** Returns whether connections that a wrapper opens take part. */
	private static boolean opensPart(DelegatingDataSource wrapper, DataSource bound) {
		DataSource target = wrapper.getTargetDataSource();
		if (target == null) {
			return false;
		}
		return (wrapper instanceof TransactionAwareDataSourceProxy) ? takesPart(target, bound)
				: target instanceof DelegatingDataSource inner && opensPart(inner, bound);
	}

}
