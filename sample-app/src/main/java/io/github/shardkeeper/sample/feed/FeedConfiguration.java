package io.github.shardkeeper.sample.feed;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Chooses the lines to feed.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(FeedProperties.class)
class FeedConfiguration {

	@Bean
	LogLines logLines(FeedProperties properties) {
		if (properties.file() != null) {
			return new FileLines(properties.file());
		}
		return new GeneratedLines((properties.linesLimit() != null) ? properties.linesLimit() : Long.MAX_VALUE);
	}

}
