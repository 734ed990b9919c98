package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Applications in this JVM that are instances of one group, under keys of its own, on the
 * Redis that all tests share unless a property says otherwise. All are closed after the
 * test.
 */
final class LocalInstances implements AfterEachCallback {

	private final String run = UUID.randomUUID().toString();

	private final Map<String, String> common = new LinkedHashMap<>();

	private final List<ConfigurableApplicationContext> started = new ArrayList<>();

	/**
	 * None yet.
	 * @param properties as {@code name=value}, for each of them
	 */
	LocalInstances(String... properties) {
		add(this.common, "shardkeeper.group=" + this.run, "shardkeeper.key-prefix=" + this.run,
				"spring.main.banner-mode=off", "spring.data.redis.port=" + EmbeddedRedis.shared().port());
		add(this.common, properties);
	}

	/** The name of the group, and what all keys begin with. */
	String run() {
		return this.run;
	}

	/** Lets the first one have its shards at once. */
	void beginGroup() {
		KnownGroup.begin(RedisClients.sharedConnector(), this.run, this.run);
	}

	/**
	 * Starts another one.
	 * @param application the class of its beans
	 * @param name its instance id
	 * @param properties as {@code name=value}; they come before those for all
	 */
	ConfigurableApplicationContext start(Class<?> application, String name, String... properties) {
		return start(new SpringApplicationBuilder(application), name, properties);
	}

	/** The same with more than a class to begin from. */
	ConfigurableApplicationContext start(SpringApplicationBuilder application, String name, String... properties) {
		Map<String, String> all = new LinkedHashMap<>(this.common);
		add(all, "shardkeeper.instance-id=" + name);
		add(all, properties);
		ConfigurableApplicationContext context = application.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(all.entrySet()
				.stream()
				.map((property) -> "--" + property.getKey() + "=" + property.getValue())
				.toArray(String[]::new));
		this.started.add(context);
		return context;
	}

	/** All that were started, the first one first, closed or not. */
	List<ConfigurableApplicationContext> started() {
		return List.copyOf(this.started);
	}

	@Override
	public void afterEach(ExtensionContext test) {
		this.started.forEach(ConfigurableApplicationContext::close);
	}

	private static void add(Map<String, String> to, String... properties) {
		for (String property : properties) {
			int equals = property.indexOf('=');
			to.put(property.substring(0, equals), property.substring(equals + 1));
		}
	}

}
