package io.github.shardkeeper.benchmarks.startup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.shardkeeper.benchmarks.ClassPath;

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
	ONE_HANDLER("+ Shardkeeper, a handler with 4 shards", Libraries.SHARDKEEPER, ShardApplication.class);

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

	/**
	 * Returns the libraries that it needs, and no others.
	 * @param directory where the applications themselves were copied to
	 */
	List<String> classPath(Path directory) {
		List<String> entries = new ArrayList<>(ClassPath.entries());
		entries.removeIf((entry) -> !isWanted(Path.of(entry)));
		entries.add(0, directory.toString());
		return entries;
	}

	private boolean isWanted(Path entry) {
		String name = entry.getFileName().toString();
		if (name.endsWith(".jar")) {
			return this.libraries.stream().anyMatch(name::startsWith);
		}
		// Classes of modules that were not packed.
		return this.libraries == Libraries.SHARDKEEPER && Stream.of("core", "redis", "autoconfigure")
			.anyMatch((module) -> entry.endsWith(Path.of(module, "target", "classes")));
	}

	/** Libraries of the starters, by prefixes of file names. */
	private static final class Libraries {

		private static final List<String> BOOT = List.of("spring-boot-4", "spring-boot-starter-4",
				"spring-boot-autoconfigure-", "spring-boot-starter-logging-", "spring-core-", "spring-beans-",
				"spring-context-7", "spring-aop-", "spring-expression-", "commons-logging-", "micrometer-commons-",
				"micrometer-observation-", "logback-", "slf4j-api-", "log4j-", "jul-to-slf4j-", "jakarta.annotation-",
				"snakeyaml-", "jspecify-");

		private static final List<String> REDIS = with(BOOT, "spring-boot-starter-data-redis-",
				"spring-boot-data-redis-", "spring-boot-data-commons-", "spring-boot-netty-",
				"spring-boot-persistence-", "spring-boot-transaction-", "spring-data-", "spring-tx-", "spring-oxm-",
				"spring-context-support-", "lettuce-core-", "netty-", "reactor-core-", "reactive-streams-",
				"redis-authx-core-");

		private static final List<String> SHARDKEEPER = with(REDIS, "shardkeeper-core-", "shardkeeper-redis-",
				"shardkeeper-spring-boot-", "spring-boot-starter-jackson-", "spring-boot-jackson-", "jackson-core-3",
				"jackson-databind-3", "jackson-annotations-", "micrometer-core-", "HdrHistogram-");

		private static List<String> with(List<String> libraries, String... more) {
			List<String> all = new ArrayList<>(libraries);
			all.addAll(List.of(more));
			return List.copyOf(all);
		}

	}

}
