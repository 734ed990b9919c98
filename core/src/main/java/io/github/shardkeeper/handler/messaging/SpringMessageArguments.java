package io.github.shardkeeper.handler.messaging;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.SynthesizingMethodParameter;
import org.springframework.core.convert.ConversionService;
import org.springframework.format.support.DefaultFormattingConversionService;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.support.HeaderMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.HeadersMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.MessageMethodArgumentResolver;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.messaging.handler.annotation.support.PayloadMethodArgumentResolver;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.validation.BindingResult;
import org.springframework.validation.FieldError;
import org.springframework.validation.Validator;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Fills parameters by Spring Messaging's resolvers: those with {@code @Payload},
 * {@code @Header} or {@code @Headers}, those of a type {@code Message} or
 * {@code MessageHeaders}, and payloads to be validated. All others stay as they are.
 * Thread-safe.
 */
public final class SpringMessageArguments implements MessageArguments {

	/**
	 * Headers that listeners of Spring Kafka have and records have not, with the
	 * constants of {@link ShardHeaders} for the same.
	 */
	private static final Map<String, String> OF_SPRING_KAFKA = Map.of("kafka_receivedMessageKey", "KEY",
			"kafka_receivedTopic", "TOPIC", "kafka_receivedPartitionId", "SHARD", "kafka_offset", "OFFSET",
			"kafka_receivedTimestamp", "TIMESTAMP", "kafka_groupId", "GROUP", "kafka_deliveryAttempt", "ATTEMPT");

	private final List<HandlerMethodArgumentResolver> resolvers;

	private final HandlerMethodArgumentResolver payload;

	private final HandlerMethodArgumentResolver batchPayload;

	private final boolean validates;

	private final ConfigurableBeanFactory beans;

	private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

	/**
	 * Creates an instance.
	 * @param beans provides the conversion service for headers and resolves placeholders
	 * @param validator validates payloads, {@code null} for none
	 */
	public SpringMessageArguments(PayloadConverter converter, ConfigurableBeanFactory beans,
			@Nullable Validator validator) {
		PayloadMessageConverter payloads = new PayloadMessageConverter(converter);
		ConversionService conversions = beans.getConversionService();
		this.resolvers = List.of(
				new HeaderMethodArgumentResolver(
						(conversions != null) ? conversions : new DefaultFormattingConversionService(), beans),
				new HeadersMethodArgumentResolver(), new MessageMethodArgumentResolver(payloads));
		this.payload = new PayloadMethodArgumentResolver(payloads, validator, false);
		this.batchPayload = new BatchPayloadResolver(converter, validator);
		this.validates = validator != null;
		this.beans = beans;
	}

	@Override
	public @Nullable OfMethod of(Method method, Class<?> beanType, Refusal refusal) {
		MessageMethod filled = new MessageMethod(method);
		for (int i = 0; i < method.getParameterCount(); i++) {
			MethodParameter parameter = new SynthesizingMethodParameter(method, i).withContainingClass(beanType);
			parameter.initParameterNameDiscovery(this.names);
			MessageParameter checked = new MessageParameter(parameter);
			checked.check(this.validates, refusal);
			checkHeader(parameter, refusal);
			if (checked.isPayload()) {
				filled.fill(i, parameter, checked.isList() ? this.batchPayload : this.payload, true);
			}
			else {
				this.resolvers.stream()
					.filter((resolver) -> resolver.supportsParameter(parameter))
					.findFirst()
					.ifPresent((resolver) -> filled.fill(parameter.getParameterIndex(), parameter, resolver, false));
			}
		}
		return filled.fillsAny() ? filled : null;
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

	/** Checked at startup: the resolver would fail for each record. */
	private void checkHeader(MethodParameter parameter, Refusal refusal) {
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
		String ours = OF_SPRING_KAFKA.get(header.name());
		if (ours != null) {
			throw refusal.of("has a @Header('%s'), which Spring Kafka adds to records.".formatted(header.name()),
					"Write @Header(ShardHeaders.%s).".formatted(ours));
		}
	}

	/** Parameters of one method. Thread-safe once they are all added. */
	private static final class MessageMethod implements MessageArguments.OfMethod {

		/** By parameter; {@code null} for those that are not filled here. */
		private final @Nullable Filled[] parameters;

		MessageMethod(Method method) {
			this.parameters = new @Nullable Filled[method.getParameterCount()];
		}

		void fill(int index, MethodParameter parameter, HandlerMethodArgumentResolver resolver, boolean payload) {
			this.parameters[index] = new Filled(parameter, resolver, payload);
		}

		boolean fillsAny() {
			for (Filled filled : this.parameters) {
				if (filled != null) {
					return true;
				}
			}
			return false;
		}

		@Override
		public boolean fills(int parameter) {
			return this.parameters[parameter] != null;
		}

		@Override
		public boolean isPayload(int parameter) {
			Filled filled = this.parameters[parameter];
			return filled != null && filled.payload();
		}

		@Override
		public @Nullable Object[] resolve(ShardContext context, SourceRecord source, int attempt) {
			Message<byte[]> message = new GenericMessage<>(source.payload(),
					new RecordHeaders(context, source, attempt));
			@Nullable Object[] values = new @Nullable Object[this.parameters.length];
			for (int i = 0; i < values.length; i++) {
				Filled filled = this.parameters[i];
				if (filled != null) {
					values[i] = filled.resolve(message);
				}
			}
			return values;
		}

		private record Filled(MethodParameter parameter, HandlerMethodArgumentResolver resolver, boolean payload) {

			@Nullable Object resolve(Message<byte[]> message) {
				try {
					return this.resolver.resolveArgument(this.parameter, message);
				}
				catch (PayloadConversionException ex) {
					throw ex;
				}
				catch (MethodArgumentNotValidException ex) {
					throw new PayloadConversionException("The payload is not valid: " + errors(ex), ex);
				}
				// The same record would cause it again.
				catch (Exception ex) {
					throw new PayloadConversionException(
							"Parameter %d, of type %s, cannot be filled from the record: %s".formatted(
									this.parameter.getParameterIndex() + 1,
									this.parameter.getParameterType().getSimpleName(), ex.getMessage()),
							ex);
				}
			}

			private static String errors(MethodArgumentNotValidException ex) {
				BindingResult result = ex.getBindingResult();
				if (result == null) {
					return String.valueOf(ex.getMessage());
				}
				return result.getAllErrors()
					.stream()
					.map((error) -> ((error instanceof FieldError field) ? field.getField() + " " : "")
							+ error.getDefaultMessage())
					.sorted()
					.collect(Collectors.joining(", "));
			}

		}

	}

	/**
	 * Resolves and validates one element of a batch, so that an invalid one does not
	 * affect the others. Thread-safe.
	 */
	private static final class BatchPayloadResolver extends PayloadMethodArgumentResolver {

		private final PayloadConverter converter;

		BatchPayloadResolver(PayloadConverter converter, @Nullable Validator validator) {
			super(new PayloadMessageConverter(converter), validator, false);
			this.converter = converter;
		}

		@Override
		public Object resolveArgument(MethodParameter parameter, Message<?> message) {
			Object payload = PayloadMessageConverter.read(this.converter, message, GenericTypeResolver
				.resolveType(MessageParameter.element(parameter).getType(), parameter.getContainingClass()));
			validate(message, parameter, payload);
			return payload;
		}

	}

}
