package io.github.shardkeeper.sample.feed;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of the feed, usually given on the command line.
 *
 * @param file access log to feed once, to its end; without it, lines are generated
 * @param linesPerSecond number of lines to feed in a second; 2000 of a file and 20
 * generated ones unless set
 * @param linesLimit number of lines to generate; endless unless set
 */
@ConfigurationProperties("sample")
record FeedProperties(@Nullable String file, @Nullable Integer linesPerSecond, @Nullable Long linesLimit) {

	private static final int FILE_LINES_PER_SECOND = 2000;

	private static final int GENERATED_LINES_PER_SECOND = 20;

	/**
	 * Returns the rate that is set, or the default one of the source.
	 * @return lines per second, at least 1
	 */
	int rate() {
		if (this.linesPerSecond != null) {
			return Math.max(1, this.linesPerSecond);
		}
		return (this.file != null) ? FILE_LINES_PER_SECOND : GENERATED_LINES_PER_SECOND;
	}

}
