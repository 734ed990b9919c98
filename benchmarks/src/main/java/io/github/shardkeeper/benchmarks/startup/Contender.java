package io.github.shardkeeper.benchmarks.startup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.github.shardkeeper.benchmarks.ClassPath;
import io.github.shardkeeper.benchmarks.Libraries;

/**
 * The applications, each with only the libraries of its starters on its class path.
 */
enum Contender {

	/** Nothing but Spring Boot. */
	EMPTY("empty application", Libraries.BOOT, PlainApplication.class),

	/** With the starter for Redis, which connects when it is first used. */
	REDIS("+ spring-boot-starter-data-redis", Libraries.REDIS, PlainApplication.class),

	/** The same, and one command is sent. */
	REDIS_USED("+ spring-boot-starter-data-redis, one PING", Libraries.REDIS, RedisApplication.class),

	/** With Shardkeeper, and nothing for it to do. */
	WITHOUT_HANDLERS("+ Shardkeeper, no handler", Libraries.SHARDKEEPER, PlainApplication.class),

	/** With Shardkeeper, a topic of four shards and a handler. */
	ONE_HANDLER("+ Shardkeeper, a handler with 4 shards", Libraries.SHARDKEEPER, ShardApplication.class),

	/**
	 * With Redis, web and actuator, as most applications are, and one command is sent.
	 */
	WEB("web, actuator, spring-boot-starter-data-redis, one PING", Libraries.WEB, RedisApplication.class),

	/** The same with Shardkeeper, a topic of four shards and a handler. */
	WEB_HANDLER("web, actuator, + Shardkeeper, a handler with 4 shards", Libraries.SHARDKEEPER_WEB,
			ShardApplication.class);

	private final String text;

	private final List<String> libraries;

	private final Class<?> main;

	Contender(String text, List<String> libraries, Class<?> main) {
		this.text = text;
		this.libraries = libraries;
		this.main = main;
	}

	String text() {
		return this.text;
	}

	Class<?> main() {
		return this.main;
	}

	/** Returns the application to which Shardkeeper is added; itself if it is none. */
	Contender without() {
		return switch (this) {
			case EMPTY, REDIS, REDIS_USED, WEB -> this;
			case WITHOUT_HANDLERS, ONE_HANDLER -> REDIS_USED;
			case WEB_HANDLER -> WEB;
		};
	}

	/** Returns whether it has a handler. */
	boolean consumes() {
		return this.main == ShardApplication.class;
	}

	/**
	 * Returns the libraries that it needs, and no others.
	 * @param directory where the applications themselves were copied to
	 */
	List<String> classPath(Path directory) {
		List<String> entries = new ArrayList<>(ClassPath.allEntries());
		entries.removeIf((entry) -> !Libraries.contain(Path.of(entry), this.libraries));
		entries.add(0, directory.toString());
		return entries;
	}

}
