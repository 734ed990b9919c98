package io.github.shardkeeper.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Libraries of the starters, by prefixes of file names. Has no state.
 */
public enum Libraries {

	/** Spring Boot's starter for Redis. */
	REDIS(false),

	/** The same, with Shardkeeper's starter. */
	SHARDKEEPER(true, Names.JSON_AND_METERS),

	/** The starters for Redis, web and actuator, and Prometheus. */
	WEB(false, Names.JSON_AND_METERS, Names.WEB),

	/** The same, with Shardkeeper's starter. */
	SHARDKEEPER_WEB(true, Names.JSON_AND_METERS, Names.WEB);

	/** Modules of Shardkeeper that the starter does not bring. */
	private static final Pattern OTHER_MODULES = Pattern.compile("(benchmarks|jdbc|kafka|sls|test|tools)([-.].*)?");

	private final boolean withShardkeeper;

	private final List<String> names;

	Libraries(boolean withShardkeeper, String[]... names) {
		this.withShardkeeper = withShardkeeper;
		this.names = Stream.concat(Stream.of(Names.BOOT_AND_REDIS), Stream.of(names).flatMap(Stream::of)).toList();
	}

	/**
	 * Returns whether an entry of a class path is one of these: a jar, or the classes of
	 * a module that was not packed.
	 */
	public boolean contain(Path entry) {
		String name = entry.getFileName().toString();
		if (name.startsWith("shardkeeper-")) {
			return this.withShardkeeper && isOfStarter(name.substring("shardkeeper-".length()));
		}
		if (name.endsWith(".jar")) {
			return this.names.stream().anyMatch(name::startsWith);
		}
		return this.withShardkeeper && entry.endsWith(Path.of("target", "classes")) && Files.isDirectory(entry)
				&& isOfStarter(module(entry));
	}

	/** Returns the name of the module whose classes a directory has. */
	public static String module(Path classes) {
		return classes.getParent().getParent().getFileName().toString();
	}

	private static boolean isOfStarter(String module) {
		return !OTHER_MODULES.matcher(module).matches();
	}

	private static final class Names {

		private static final String[] BOOT_AND_REDIS = { "spring-boot-4", "spring-boot-starter-4",
				"spring-boot-autoconfigure-", "spring-boot-starter-logging-", "spring-core-", "spring-beans-",
				"spring-context-", "spring-aop-", "spring-expression-", "commons-logging-", "micrometer-commons-",
				"micrometer-observation-", "logback-", "slf4j-api-", "log4j-", "jul-to-slf4j-", "jakarta.annotation-",
				"snakeyaml-", "jspecify-", "spring-boot-starter-data-redis-", "spring-boot-data-redis-",
				"spring-boot-data-commons-", "spring-boot-netty-", "spring-boot-persistence-",
				"spring-boot-transaction-", "spring-data-", "spring-tx-", "spring-oxm-", "lettuce-core-", "netty-",
				"reactor-core-", "reactive-streams-", "redis-authx-core-" };

		private static final String[] JSON_AND_METERS = { "spring-boot-starter-jackson-", "spring-boot-jackson-",
				"jackson-core-3", "jackson-databind-3", "jackson-annotations-", "micrometer-core-", "HdrHistogram-" };

		private static final String[] WEB = { "spring-boot-starter-webmvc-", "spring-boot-webmvc-",
				"spring-boot-starter-tomcat-", "spring-boot-tomcat-", "spring-boot-web-server-", "spring-boot-servlet-",
				"spring-boot-http-converter-", "spring-web", "tomcat-embed-", "spring-boot-starter-actuator-",
				"spring-boot-actuator-", "spring-boot-health-", "spring-boot-starter-micrometer-metrics-",
				"spring-boot-micrometer-", "micrometer-jakarta9-", "micrometer-registry-prometheus-",
				"prometheus-metrics-" };

	}

}
