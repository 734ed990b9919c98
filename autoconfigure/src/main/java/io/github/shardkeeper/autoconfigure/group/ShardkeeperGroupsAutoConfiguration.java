package io.github.shardkeeper.autoconfigure.group;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.github.shardkeeper.actuate.LoopsHealthIndicator;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.autoconfigure.ContextHierarchy;
import io.github.shardkeeper.autoconfigure.SharedConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.properties.GroupEnvironment;

/**
 * Groups of {@code shardkeeper.groups}, if there are any, beside that of
 * {@code shardkeeper.group}, or without it.
 */
@AutoConfiguration(after = ShardkeeperAutoConfiguration.class, before = ShardkeeperActuatorAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "shardkeeper.enabled", matchIfMissing = true)
@Conditional({ ContextHierarchy.OnNoParent.class, ShardkeeperGroupsAutoConfiguration.OnGroups.class })
@Import(SharedConfiguration.class)
public final class ShardkeeperGroupsAutoConfiguration {

	@Bean
	@Lazy(false)
	NamedGroups shardkeeperGroups(ConfigurableApplicationContext application) {
		return new NamedGroups(application);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	static class HealthConfiguration {

		@Bean
		@ConditionalOnEnabledHealthIndicator("shardkeeper")
		GroupsHealth shardkeeperGroupsHealthContributor(NamedGroups groups) {
			return new GroupsHealth(groups, ShardkeeperHealthIndicator.class);
		}

		@Bean
		@ConditionalOnBooleanProperty("management.health.shardkeeper.loops.enabled")
		GroupsHealth shardkeeperGroupsLoopsHealthContributor(NamedGroups groups) {
			return new GroupsHealth(groups, LoopsHealthIndicator.class);
		}

	}

	/** Matches if a group has a name. */
	static final class OnGroups implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return !GroupEnvironment.names(context.getEnvironment()).isEmpty();
		}

	}

}
