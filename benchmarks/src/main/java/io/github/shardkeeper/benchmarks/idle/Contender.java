package io.github.shardkeeper.benchmarks.idle;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * A process that waits for records.
 */
enum Contender {

	SHARDKEEPER("Shardkeeper", 10_000, IdleShards.class),

	/** More streams would be more threads and connections than one machine has. */
	CONTAINER("Spring container", 1_000, IdleContainer.class, "false"),

	POOLED_CONTAINER("Spring container, pooled connections", 1_000, IdleContainer.class, "true");

	private final String text;

	private final int most;

	private final Class<?> main;

	private final List<String> options;

	Contender(String text, int most, Class<?> main, String... options) {
		this.text = text;
		this.most = most;
		this.main = main;
		this.options = List.of(options);
	}

	String text() {
		return this.text;
	}

	/** Returns the maximum number of streams. */
	int most() {
		return this.most;
	}

	ChildProcess start(RedisProcess redis, int streams) throws IOException {
		List<String> arguments = new ArrayList<>(List.of(String.valueOf(redis.port()), String.valueOf(streams)));
		arguments.addAll(this.options);
		return ChildProcess.start(ClassPath.entries(), this.main, arguments.toArray(String[]::new));
	}

}
