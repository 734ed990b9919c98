package io.github.shardkeeper.benchmarks.footprint;

import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionCommands;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * An application that checks its Redis while it starts.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class RedisApplication {

	@Bean
	ApplicationRunner ping(StringRedisTemplate template) {
		return (arguments) -> template.execute(RedisConnectionCommands::ping);
	}

	public static void main(String[] arguments) throws Exception {
		FootprintProcess.run(RedisApplication.class, (context) -> {
		}, arguments);
	}

}
