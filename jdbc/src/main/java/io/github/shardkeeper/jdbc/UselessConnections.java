package io.github.shardkeeper.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.util.ClassUtils;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Has HikariCP replace its connections after failures that show that some are useless,
 * which HikariCP does not notice: they work, but lead to a server that may not write any
 * more, such as a former primary server; or an error that HikariCP does not know has told
 * that they are closed, and it checks none that was used within half a second. Other
 * pools keep their connections for as long as they are configured to. Thread-safe.
 */
final class UselessConnections {

	private static final Logger logger = PrintableLogger.of(UselessConnections.class);

	/** New connections may lead to the same server for a while. */
	private static final Duration PAUSE = Duration.ofSeconds(5);

	private static final boolean KNOWS_POOL = ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource",
			UselessConnections.class.getClassLoader());

	private final DataSource dataSource;

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	private final AtomicReference<@Nullable MonotonicTime> replacedAt = new AtomicReference<>();

	UselessConnections(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	/**
	 * Has all connections replaced if a failure shows that some are useless, but not
	 * again within five seconds. Those in use are replaced when they are given back.
	 */
	void failed(Throwable failure) {
		if (!KNOWS_POOL || !DatabaseFailure.isReadOnly(failure) && !DatabaseFailure.isClosed(failure)) {
			return;
		}
		MonotonicTime now = this.clock.now();
		MonotonicTime last = this.replacedAt.get();
		if (last != null && last.until(now).compareTo(PAUSE) < 0 || !this.replacedAt.compareAndSet(last, now)) {
			return;
		}
		if (Hikari.replaceConnections(this.dataSource)) {
			logger.info("All connections of the pool are replaced, because some are useless: {}",
					DatabaseFailure.innermost(failure));
		}
	}

	/** Loaded only if HikariCP is on the class path. Has no state. */
	private static final class Hikari {

		/** Returns whether the data source has a pool of HikariCP. */
		static boolean replaceConnections(DataSource dataSource) {
			try {
				HikariPoolMXBean pool = dataSource.isWrapperFor(HikariDataSource.class)
						? dataSource.unwrap(HikariDataSource.class).getHikariPoolMXBean() : null;
				if (pool != null) {
					pool.softEvictConnections();
				}
				return pool != null;
			}
			catch (SQLException ex) {
				logger.debug("The pool of the DataSource is not known", ex);
				return false;
			}
		}

	}

}
