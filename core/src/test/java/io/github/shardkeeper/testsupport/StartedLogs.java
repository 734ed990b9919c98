package io.github.shardkeeper.testsupport;

import org.junit.jupiter.api.extension.Extension;
import org.slf4j.LoggerFactory;

/**
 * Starts logging before the first test class. Otherwise two classes that start at a time
 * may do so, and one of them gets loggers that only stand in for Logback's. JUnit finds
 * this in every module with the test fixtures of this one.
 */
public final class StartedLogs implements Extension {

	/** JUnit creates extensions on one thread, before it starts any class. */
	public StartedLogs() {
		LoggerFactory.getILoggerFactory();
	}

}
