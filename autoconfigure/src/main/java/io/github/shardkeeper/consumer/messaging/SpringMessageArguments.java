package io.github.shardkeeper.consumer.messaging;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.SynthesizingMethodParameter;
import org.springframework.core.convert.ConversionService;
import org.springframework.format.support.DefaultFormattingConversionService;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.support.HeaderMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.HeadersMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.validation.Validator;

import io.github.shardkeeper.consumer.MessageArguments;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * Fills parameters by Spring Messaging's resolvers: those with {@code @Payload},
 * {@code @Header} or {@code @Headers}, those of a type {@code Message} or
 * {@code MessageHeaders}, and payloads to be validated. All others stay as they are.
 * Thread-safe.
 */
public final class SpringMessageArguments implements MessageArguments {

	private final List<HandlerMethodArgumentResolver> resolvers;

	private final HandlerMethodArgumentResolver payload;

	private final HandlerMethodArgumentResolver batchPayload;

	private final boolean validates;

	private final ConfigurableBeanFactory beans;

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	/**
	 * Creates it.
	 * @param converter reads payloads
	 * @param beans has the conversion service for headers, and resolves placeholders
	 * @param validator validates payloads, {@code null} for none
	 */
	public SpringMessageArguments(PayloadConverter converter, ConfigurableBeanFactory beans,
			@Nullable Validator validator) {
		PayloadMessageConverter messages = new PayloadMessageConverter(converter);
		ConversionService conversions = beans.getConversionService();
		this.resolvers = List.of(
				new HeaderMethodArgumentResolver(
						(conversions != null) ? conversions : new DefaultFormattingConversionService(), beans),
				new HeadersMethodArgumentResolver(), new MessageMethodArgumentResolver(messages));
		this.payload = new PayloadMethodArgumentResolver(messages, validator, false);
		this.batchPayload = new BatchPayloads(converter, validator);
		this.validates = validator != null;
		this.beans = beans;
	}

	@Override
	public @Nullable OfMethod of(Method method, Class<?> beanType, Refusal refusal) {
		MessageMethod read = new MessageMethod(method);
		for (int i = 0; i < method.getParameterCount(); i++) {
			MethodParameter parameter = new SynthesizingMethodParameter(method, i).withContainingClass(beanType);
			parameter.initParameterNameDiscovery(this.names);
			MessageParameter seen = new MessageParameter(parameter);
			seen.check(this.validates, refusal);
			requireResolvable(parameter, refusal);
			if (seen.isPayload()) {
				read.fill(i, parameter, seen.isList() ? this.batchPayload : this.payload, true);
			}
			else {
				this.resolvers.stream()
					.filter((resolver) -> resolver.supportsParameter(parameter))
					.findFirst()
					.ifPresent((resolver) -> read.fill(parameter.getParameterIndex(), parameter, resolver, false));
			}
		}
		return read.fillsAny() ? read : null;
	}

	private boolean isResolvable(String text) {
		try {
			String resolved = this.beans.resolveEmbeddedValue(text);
			return resolved == null || !resolved.contains("${");
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	/** The resolver would find out with each record, which has nothing to do with it. */
	private void requireResolvable(MethodParameter parameter, Refusal refusal) {
		Header header = parameter.getParameterAnnotation(Header.class);
		if (header == null) {
			return;
		}
		for (String text : List.of(header.name(), header.defaultValue())) {
			if (!isResolvable(text)) {
				throw refusal.of("has a @Header with '%s', which cannot be resolved.".formatted(text),
						"Set the property that it names, or give it a default as in '${name:default}'.");
			}
		}
	}

}
