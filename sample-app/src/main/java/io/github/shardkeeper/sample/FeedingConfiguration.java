package io.github.shardkeeper.sample;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.coordination.ShardCoordinator;

/**
 * Decides what is fed, and by whom.
 */
@Configuration(proxyBeanMethods = false)
class FeedingConfiguration {

	@Bean
	LogLines logLines(SampleProperties properties) {
		if (properties.file() != null) {
			return new FileLines(properties.file());
		}
		return new GeneratedLines((properties.linesLimit() != null) ? properties.linesLimit() : Long.MAX_VALUE);
	}

	/** The group's leader feeds: there is always one, and never two for long. */
	@Bean
	FeederDuty feederDuty(ShardCoordinator coordinator) {
		return coordinator::isLeader;
	}

}
