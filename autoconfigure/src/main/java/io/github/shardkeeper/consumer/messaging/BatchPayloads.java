package io.github.shardkeeper.consumer.messaging;

import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.validation.Validator;

import io.github.shardkeeper.source.PayloadConverter;

/**
 * Finds one element of a batch's list, and validates it alone, so that an invalid one
 * spoils no others. Thread-safe.
 */
final class BatchPayloads extends PayloadMethodArgumentResolver {

	private final PayloadConverter converter;

	BatchPayloads(PayloadConverter converter, @Nullable Validator validator) {
		super(new PayloadMessageConverter(converter), validator, false);
		this.converter = converter;
	}

	@Override
	public Object resolveArgument(MethodParameter parameter, Message<?> message) {
		Object payload = this.converter.read((byte[]) message.getPayload(),
				GenericTypeResolver.resolveType(element(parameter).getType(), parameter.getContainingClass()));
		validate(message, parameter, payload);
		return payload;
	}

	/** What is in the list. */
	static ResolvableType element(MethodParameter parameter) {
		return ResolvableType.forMethodParameter(parameter).getGeneric(0);
	}

}
