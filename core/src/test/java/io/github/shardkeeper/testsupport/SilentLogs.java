package io.github.shardkeeper.testsupport;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/**
 * Switches logs off during thousands of simulations; a replay logs everything. Several
 * classes may do so at a time: logs are as before once all have ended.
 */
public final class SilentLogs implements AutoCloseable {

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.github.shardkeeper");

	private static int open;

	private static Level before;

	private SilentLogs() {
	}

	public static SilentLogs begin() {
		return begin(Level.OFF);
	}

	public static synchronized SilentLogs begin(Level level) {
		if (open++ == 0) {
			before = LOGGER.getLevel();
		}
		LOGGER.setLevel(level);
		return new SilentLogs();
	}

	@Override
	public void close() {
		synchronized (SilentLogs.class) {
			if (--open == 0) {
				LOGGER.setLevel(before);
			}
		}
	}

}
