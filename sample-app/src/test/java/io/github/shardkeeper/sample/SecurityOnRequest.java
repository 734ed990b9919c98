package io.github.shardkeeper.sample;

import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Leaves Spring Boot's configuration of Spring Security out of the applications of these
 * tests, except of those with {@code test.security=true}: it is on the class path of all,
 * and would protect every endpoint.
 */
final class SecurityOnRequest implements AutoConfigurationImportFilter, EnvironmentAware {

	private boolean wanted;

	@Override
	public void setEnvironment(Environment environment) {
		this.wanted = environment.getProperty("test.security", Boolean.class, false);
	}

	@Override
	public boolean[] match(String[] classes, AutoConfigurationMetadata metadata) {
		boolean[] matches = new boolean[classes.length];
		for (int i = 0; i < classes.length; i++) {
			String name = classes[i];
			matches[i] = this.wanted || name == null || !name.startsWith("org.springframework.boot.security.");
		}
		return matches;
	}

}
