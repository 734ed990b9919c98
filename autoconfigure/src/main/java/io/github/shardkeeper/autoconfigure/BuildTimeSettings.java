package io.github.shardkeeper.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The settings that decide which beans there are. In an application that was processed
 * ahead of time (AOT) they were read when it was built, and another value at run time
 * would have no effect. Thread-safe.
 */
final class BuildTimeSettings implements EnvironmentAware, InitializingBean {

	/** With what holds where they are not set. */
	private static final Map<String, String> DEFAULTS = Map.of("shardkeeper.enabled", "true", "shardkeeper.store",
			"redis", "management.health.shardkeeper.enabled", "true");

	private final Map<String, String> builtWith;

	private Environment environment = new StandardEnvironment();

	/**
	 * Creates it.
	 * @param builtWith the settings as they were when the beans were chosen
	 */
	BuildTimeSettings(Map<String, String> builtWith) {
		this.builtWith = builtWith;
	}

	/**
	 * Reads the settings.
	 * @return the value of each, in lower case
	 */
	static Map<String, String> read(Environment environment) {
		Map<String, String> settings = new LinkedHashMap<>();
		DEFAULTS.keySet().stream().sorted().forEach((name) -> settings.put(name, value(environment, name)));
		return settings;
	}

	private static String value(Environment environment, String name) {
		return environment.getProperty(name, DEFAULTS.getOrDefault(name, "")).strip().toLowerCase(Locale.ROOT);
	}

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void afterPropertiesSet() {
		check();
	}

	/**
	 * Checks that each setting has the value that the beans were chosen by.
	 * @throws ShardkeeperConfigurationException when one has another
	 */
	void check() {
		this.builtWith.forEach((name, before) -> {
			String now = value(this.environment, name);
			if (!now.equals(before)) {
				throw new ShardkeeperConfigurationException(
						"'%s' is '%s', but this application was processed ahead of time (AOT) with '%s', which cannot be changed at run time."
							.formatted(name, now, before),
						"Build the application with '%s: %s', or start it with '%s'.".formatted(name, now, before));
			}
		});
	}

}
