package io.github.shardkeeper.sample;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be set for the sample, usually on the command line.
 *
 * @param file access log to feed once, to its end; lines are generated where it is not
 * set
 * @param linesPerSecond how many lines are fed in a second: 2000 of a file and 20
 * generated ones where it is not set
 * @param linesLimit how many lines are generated; endless where it is not set
 * @param redis where the sample's own Redis listens
 */
@ConfigurationProperties("sample")
record SampleProperties(@Nullable String file, @Nullable Integer linesPerSecond, @Nullable Long linesLimit,
		@DefaultValue Redis redis) {

	private static final int FILE_LINES_PER_SECOND = 2000;

	private static final int GENERATED_LINES_PER_SECOND = 20;

	/**
	 * The rate that was set, or the one that suits the source: a file wants to be
	 * counted, generated lines want to be watched.
	 * @return lines per second, at least 1
	 */
	int rate() {
		if (this.linesPerSecond != null) {
			return Math.max(1, this.linesPerSecond);
		}
		return (this.file != null) ? FILE_LINES_PER_SECOND : GENERATED_LINES_PER_SECOND;
	}

	/**
	 * Where the sample's own Redis listens.
	 *
	 * @param port port at which the sample looks for a Redis, and starts one where
	 * nothing listens; setting it overrides {@code spring.data.redis.*}
	 */
	record Redis(@DefaultValue("6379") int port) {

	}

}
