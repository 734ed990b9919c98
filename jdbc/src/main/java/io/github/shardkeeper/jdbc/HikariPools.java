package io.github.shardkeeper.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * The pool of a data source that has one, of HikariCP, which is an optional dependency.
 * Has no state.
 */
final class HikariPools {

	private static final Logger logger = PrintableLogger.of(HikariPools.class);

	private static final boolean PRESENT = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			HikariPools.class.getClassLoader());

	private HikariPools() {
	}

	/**
	 * Returns the maximum number of connections; {@code null} if it is not known, above
	 * all before the first connection.
	 */
	static @Nullable Integer maximumSize(DataSource dataSource) {
		return PRESENT ? Pool.maximumSize(dataSource) : null;
	}

	/** Loaded only if HikariCP is on the class path. Has no state. */
	private static final class Pool {

		static @Nullable Integer maximumSize(DataSource dataSource) {
			HikariDataSource hikari = find(dataSource);
			int size = (hikari != null) ? hikari.getMaximumPoolSize() : 0;
			return (size > 0) ? size : null;
		}

		private static @Nullable HikariDataSource find(DataSource dataSource) {
			try {
				return (!(dataSource instanceof AbstractRoutingDataSource)
						&& dataSource.isWrapperFor(HikariDataSource.class)) ? dataSource.unwrap(HikariDataSource.class)
								: null;
			}
			catch (SQLException | RuntimeException ex) {
				logger.debug("The pool of the DataSource is not known", ex);
				return null;
			}
		}

	}

}
