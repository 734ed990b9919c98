package io.github.shardkeeper.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.slf4j.LoggerFactory;

/** Switches logs off during thousands of simulations; a replay logs everything. */
record SilentLogs(Logger logger, Level before) implements AutoCloseable {

	static SilentLogs begin() {
		return begin(Level.OFF);
	}

	static SilentLogs begin(Level level) {
		Logger logger = (Logger) LoggerFactory.getLogger("io.github.shardkeeper");
		SilentLogs logs = new SilentLogs(logger, logger.getLevel());
		logger.setLevel(level);
		return logs;
	}

	@Override
	public void close() {
		this.logger.setLevel(this.before);
	}

}
