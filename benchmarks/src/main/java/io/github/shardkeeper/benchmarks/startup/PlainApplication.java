package io.github.shardkeeper.benchmarks.startup;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * An application without anything of its own.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class PlainApplication {

	public static void main(String[] arguments) throws Exception {
		StartupFigures.run(PlainApplication.class, StartupFigures.Ready.AT_ONCE, arguments);
	}

}
