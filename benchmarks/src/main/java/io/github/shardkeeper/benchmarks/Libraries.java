package io.github.shardkeeper.benchmarks;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Libraries of the starters, by prefixes of file names. Has no state.
 */
public final class Libraries {

	/** An application with nothing but Spring Boot. */
	public static final List<String> BOOT = List.of("spring-boot-4", "spring-boot-starter-4",
			"spring-boot-autoconfigure-", "spring-boot-starter-logging-", "spring-core-", "spring-beans-",
			"spring-context-7", "spring-aop-", "spring-expression-", "commons-logging-", "micrometer-commons-",
			"micrometer-observation-", "logback-", "slf4j-api-", "log4j-", "jul-to-slf4j-", "jakarta.annotation-",
			"snakeyaml-", "jspecify-");

	/** The same, with the starter for Redis. */
	public static final List<String> REDIS = with(BOOT, "spring-boot-starter-data-redis-", "spring-boot-data-redis-",
			"spring-boot-data-commons-", "spring-boot-netty-", "spring-boot-persistence-", "spring-boot-transaction-",
			"spring-data-", "spring-tx-", "spring-oxm-", "spring-context-support-", "lettuce-core-", "netty-",
			"reactor-core-", "reactive-streams-", "redis-authx-core-");

	private static final String[] OWN = { "shardkeeper-core-", "shardkeeper-redis-", "shardkeeper-spring-boot-" };

	private static final String[] JSON_AND_METERS = { "spring-boot-starter-jackson-", "spring-boot-jackson-",
			"jackson-core-3", "jackson-databind-3", "jackson-annotations-", "micrometer-core-", "HdrHistogram-" };

	/** The same as {@link #REDIS}, with Shardkeeper's starter. */
	public static final List<String> SHARDKEEPER = with(with(REDIS, OWN), JSON_AND_METERS);

	/**
	 * The same as {@link #REDIS}, with the starters for web and actuator, and Prometheus.
	 */
	public static final List<String> WEB = with(with(REDIS, JSON_AND_METERS), "spring-boot-starter-webmvc-",
			"spring-boot-webmvc-", "spring-boot-starter-tomcat-", "spring-boot-tomcat-", "spring-boot-web-server-",
			"spring-boot-servlet-", "spring-boot-http-converter-", "spring-web", "tomcat-embed-",
			"spring-boot-starter-actuator-", "spring-boot-actuator-", "spring-boot-health-",
			"spring-boot-starter-micrometer-metrics-", "spring-boot-micrometer-", "micrometer-jakarta9-",
			"micrometer-registry-prometheus-", "prometheus-metrics-");

	/** The same, with Shardkeeper's starter. */
	public static final List<String> SHARDKEEPER_WEB = with(WEB, OWN);

	private static final List<String> MODULES = List.of("core", "redis", "autoconfigure");

	private Libraries() {
	}

	/**
	 * Returns whether an entry of a class path is one of the libraries.
	 * @param entry a jar, or the classes of a module that was not packed
	 * @param libraries prefixes of file names
	 * @return whether it is one of them
	 */
	public static boolean contain(Path entry, List<String> libraries) {
		String name = entry.getFileName().toString();
		if (name.endsWith(".jar")) {
			return libraries.stream().anyMatch(name::startsWith);
		}
		return libraries.containsAll(List.of(OWN))
				&& MODULES.stream().anyMatch((module) -> entry.endsWith(Path.of(module, "target", "classes")));
	}

	private static List<String> with(List<String> libraries, String... more) {
		return Stream.concat(libraries.stream(), Stream.of(more)).toList();
	}

}
