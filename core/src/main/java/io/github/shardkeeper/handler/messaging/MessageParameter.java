package io.github.shardkeeper.handler.messaging;

import java.lang.annotation.Annotation;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.util.StringUtils;
import org.springframework.validation.annotation.ValidationAnnotationUtils;

import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.handler.MessageArguments.Refusal;

/**
 * A parameter of a handler with annotations or types of Spring Messaging, and its checks.
 * Immutable.
 */
final class MessageParameter {

	private final MethodParameter parameter;

	private final Class<?> type;

	private final boolean annotated;

	private final boolean validated;

	MessageParameter(MethodParameter parameter) {
		this.parameter = parameter;
		this.type = parameter.getParameterType();
		this.annotated = parameter.hasParameterAnnotation(Payload.class);
		this.validated = Arrays.stream(parameter.getParameterAnnotations()).anyMatch(MessageParameter::validates);
	}

	private static boolean validates(Annotation annotation) {
		return ValidationAnnotationUtils.determineValidationHints(annotation) != null;
	}

	/** Returns whether it takes the payload and has annotations for it. */
	boolean isPayload() {
		return this.annotated || this.validated;
	}

	boolean isList() {
		return this.type == List.class;
	}

	void check(boolean hasValidator, Refusal refusal) {
		if (isPayload()) {
			checkPayload(refusal);
		}
		if (this.validated && !hasValidator) {
			throw refusal.of(
					"has a payload to be validated, but there is no Validator bean, or none of several is primary.",
					"Add the dependency 'org.springframework.boot:spring-boot-starter-validation', mark one of several "
							+ "jakarta.validation.Validator beans as @Primary, or remove the annotation.");
		}
		if (this.parameter.hasParameterAnnotation(Headers.class) && !Map.class.isAssignableFrom(this.type)) {
			throw refusal.of("has @Headers on a %s.".formatted(this.type.getSimpleName()),
					"Write Map<String, Object>, or MessageHeaders.");
		}
		if (Message.class.isAssignableFrom(this.type) && !this.type.isAssignableFrom(GenericMessage.class)) {
			throw refusal.of("takes a %s.".formatted(this.type.getSimpleName()), "Write Message<T>.");
		}
		if (isList() && isOrHolds(Message.class)) {
			throw refusal.of("takes a batch of messages.",
					"Write List<ShardRecord<T>>: each record has its key, headers, offset and timestamp.");
		}
	}

	private void checkPayload(Refusal refusal) {
		Payload payload = this.parameter.getParameterAnnotation(Payload.class);
		if (payload != null && StringUtils.hasText(payload.expression())) {
			throw refusal.of("has a @Payload with the expression '%s'.".formatted(payload.expression()),
					"Remove it, and take from the payload in the method what is needed.");
		}
		if (this.type == Object.class) {
			throw refusal.of("has a payload of type Object.",
					"Write the type it shall be converted to, for example Map<String, Object> for any JSON object.");
		}
		if (isOrHolds(ShardRecord.class) || isOrHolds(Message.class)) {
			throw refusal.of(
					"has @Payload, @Valid or @Validated on a %s."
						.formatted(ResolvableType.forMethodParameter(this.parameter)),
					isList() ? "Write '@Valid List<T>' to have each payload validated, or remove the annotation."
							: "Write '@Valid T' for the payload, and take its key and the like as "
									+ "'@Header(ShardHeaders.KEY) String'. Or remove the annotation.");
		}
	}

	private boolean isOrHolds(Class<?> whole) {
		Class<?> held = isList() ? element(this.parameter).resolve(Object.class) : this.type;
		return whole.isAssignableFrom(held);
	}

	/** Returns the type of the elements of a batch. */
	static ResolvableType element(MethodParameter parameter) {
		return ResolvableType.forMethodParameter(parameter).getGeneric(0);
	}

}
