package io.github.shardkeeper.autoconfigure;

import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.handler.CallObserver;
import io.github.shardkeeper.observation.CallObservations;
import io.github.shardkeeper.observation.SendObservations;
import io.github.shardkeeper.observation.ShardConsumeConvention;
import io.github.shardkeeper.observation.ShardSendConvention;
import io.github.shardkeeper.template.SendObserver;

/** Observations, if they are enabled and there is a registry. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("shardkeeper.observations.enabled")
@ConditionalOnBean(ObservationRegistry.class)
class ObservationConfiguration {

	@Bean
	@ConditionalOnMissingBean
	CallObserver shardkeeperCallObserver(ObservationRegistry registry,
			ObjectProvider<ShardConsumeConvention> convention) {
		return new CallObservations(registry, convention.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	SendObserver shardkeeperSendObserver(ObservationRegistry registry, ObjectProvider<ShardSendConvention> convention) {
		return new SendObservations(registry, convention.getIfAvailable());
	}

}
