package io.github.shardkeeper.autoconfigure.payload;

import jakarta.validation.Validator;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.validation.beanvalidation.SpringValidatorAdapter;

import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.handler.messaging.SpringMessageArguments;

/** Handler parameters of Spring Messaging, if it is on the class path. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HandlerMethodArgumentResolver.class)
public class MessagingConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MessageArguments shardkeeperMessageArguments(ConverterSelection converters, ObjectProvider<TopicPayloads> clients,
			ConfigurableListableBeanFactory beans, ObjectProvider<PayloadValidator> validator) {
		PayloadValidator payloadValidator = validator.getIfUnique();
		return new SpringMessageArguments(converters.ofTopics(clients), beans,
				(payloadValidator != null) ? payloadValidator.adapter() : null);
	}

	/** A class of its own, because Jakarta Validation is optional. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Validator.class)
	static class ValidationConfiguration {

		@Bean
		PayloadValidator shardkeeperPayloadValidator(ObjectProvider<Validator> validator) {
			Validator unique = validator.getIfUnique();
			return new PayloadValidator((unique != null) ? new SpringValidatorAdapter(unique) : null);
		}

	}

	/** Validator of the application as Spring's interface, if there is one. */
	record PayloadValidator(org.springframework.validation.@Nullable Validator adapter) {

	}

}
