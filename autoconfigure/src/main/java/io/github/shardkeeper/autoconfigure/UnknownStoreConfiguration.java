package io.github.shardkeeper.autoconfigure;

import java.util.Locale;
import java.util.Set;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

/** Fails startup for an unknown {@code shardkeeper.store}, before beans are missing. */
@Configuration(proxyBeanMethods = false)
@Conditional(UnknownStoreConfiguration.OnUnknownStore.class)
class UnknownStoreConfiguration {

	@Bean
	MemoryStreamSource shardkeeperSource(Environment environment) {
		throw new ShardkeeperConfigurationException(
				"'shardkeeper.store' is '%s', which is not a store.".formatted(OnUnknownStore.store(environment)),
				"Set it to 'redis' or 'memory'.");
	}

	static class OnUnknownStore implements Condition {

		private static final Set<String> KNOWN = Set.of("redis", "memory");

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return !KNOWN.contains(store(context.getEnvironment()).toLowerCase(Locale.ROOT));
		}

		static String store(Environment environment) {
			return environment.getProperty("shardkeeper.store", "redis");
		}

	}

}
