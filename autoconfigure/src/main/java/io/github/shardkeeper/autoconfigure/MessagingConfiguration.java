package io.github.shardkeeper.autoconfigure;

import jakarta.validation.Validator;

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
import io.github.shardkeeper.source.PayloadConverter;

/**
 * What handlers may take where Spring Messaging is on the class path.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(HandlerMethodArgumentResolver.class)
class MessagingConfiguration {

	@Bean
	@ConditionalOnMissingBean
	MessageArguments shardkeeperMessageArguments(PayloadConverter converter, ConfigurableListableBeanFactory beans,
			ObjectProvider<PayloadValidator> validator) {
		PayloadValidator found = validator.getIfUnique();
		return new SpringMessageArguments(converter, beans, (found != null) ? found.adapter() : null);
	}

	/** Apart, because Jakarta Validation may not be there. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Validator.class)
	static class ValidationConfiguration {

		@Bean
		PayloadValidator shardkeeperPayloadValidator(ObjectProvider<Validator> validator) {
			Validator found = validator.getIfUnique();
			return new PayloadValidator((found != null) ? new SpringValidatorAdapter(found) : null);
		}

	}

}
