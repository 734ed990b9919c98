package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

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
	private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(5);

	private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

	/** Without a failure for as many pauses, the next one is that of another outage. */
	private static final int PAUSES_OF_ANOTHER_OUTAGE = 10;

	private final DataSource dataSource;

	private final MonotonicClock clock;

	private final AtomicReference<@Nullable Replacement> last = new AtomicReference<>();

	UselessConnections(DataSource dataSource, MonotonicClock clock) {
		this.dataSource = dataSource;
		this.clock = clock;
	}

	/**
	 * Has all connections replaced if a failure shows that some are useless, also those
	 * of the application's other work. Those in use are replaced when they are given
	 * back. Does so again after five seconds at the earliest, and after twice as long
	 * each time that it did not help, up to a minute.
	 */
	void failed(Throwable failure) {
		if (!DatabaseFailure.isReadOnly(failure) && !DatabaseFailure.isClosedByH2(failure)) {
			return;
		}
		MonotonicTime now = this.clock.now();
		Replacement before = this.last.get();
		Duration pause = (before != null) ? before.nextPause(now) : SHORTEST_PAUSE;
		if (pause != null && this.last.compareAndSet(before, new Replacement(now, pause))
				&& HikariPools.replaceConnections(this.dataSource) && pause.equals(SHORTEST_PAUSE)) {
			logger.info("All connections of the pool are replaced, because some are useless: {}",
					DatabaseFailure.innermost(failure));
		}
	}

	/**
	 * A replacement of all connections. Immutable.
	 *
	 * @param pause the time without another one
	 */
	private record Replacement(MonotonicTime at, Duration pause) {

		/** Returns the pause after another one now, {@code null} if it is too early. */
		@Nullable Duration nextPause(MonotonicTime now) {
			Duration since = this.at.until(now);
			if (since.compareTo(this.pause) < 0) {
				return null;
			}
			if (since.compareTo(this.pause.multipliedBy(PAUSES_OF_ANOTHER_OUTAGE)) >= 0) {
				return SHORTEST_PAUSE;
			}
			Duration doubled = this.pause.multipliedBy(2);
			return (doubled.compareTo(LONGEST_PAUSE) < 0) ? doubled : LONGEST_PAUSE;
		}

	}

}
