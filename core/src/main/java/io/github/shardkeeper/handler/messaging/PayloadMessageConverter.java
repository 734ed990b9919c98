package io.github.shardkeeper.handler.messaging;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.SmartMessageConverter;

import io.github.shardkeeper.source.PayloadConverter;

/**
 * Makes the {@link PayloadConverter} available to Spring Messaging's resolvers.
 * Thread-safe.
 */
final class PayloadMessageConverter implements SmartMessageConverter {

	private final PayloadConverter converter;

	PayloadMessageConverter(PayloadConverter converter) {
		this.converter = converter;
	}

	@Override
	public @Nullable Object fromMessage(Message<?> message, Class<?> targetClass) {
		return fromMessage(message, targetClass, null);
	}

	@Override
	public @Nullable Object fromMessage(Message<?> message, Class<?> targetClass, @Nullable Object conversionHint) {
		Type type = (conversionHint instanceof MethodParameter parameter) ? payloadType(parameter) : targetClass;
		return (message.getPayload() instanceof byte[]) ? read(this.converter, message, type) : null;
	}

	static Object read(PayloadConverter converter, Message<?> message, Type type) {
		return (message.getHeaders() instanceof RecordHeaders headers) ? headers.payload(converter, type)
				: converter.read((byte[]) message.getPayload(), type);
	}

	/** Returns the generic type; the resolvers know only its class. */
	static Type payloadType(MethodParameter parameter) {
		ResolvableType type = ResolvableType.forMethodParameter(parameter);
		if (Message.class.isAssignableFrom(parameter.getParameterType())) {
			type = type.as(Message.class).getGeneric(0);
		}
		return GenericTypeResolver.resolveType(type.getType(), parameter.getContainingClass());
	}

	@Override
	public @Nullable Message<?> toMessage(Object payload, @Nullable MessageHeaders headers) {
		return null;
	}

	@Override
	public @Nullable Message<?> toMessage(Object payload, @Nullable MessageHeaders headers,
			@Nullable Object conversionHint) {
		return null;
	}

}
