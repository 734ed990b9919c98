package io.github.shardkeeper.consumer.messaging;

import java.lang.reflect.Method;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.validation.BindingResult;
import org.springframework.validation.FieldError;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.consumer.MessageArguments;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * The parameters of a method that Spring Messaging fills. Thread-safe once it is read.
 */
final class MessageMethod implements MessageArguments.OfMethod {

	/** Sparse: {@code null} where somebody else fills. */
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
	public @Nullable Object[] resolve(ShardContext context, SourceRecord source) {
		Message<byte[]> message = new GenericMessage<>(source.payload(), new RecordHeaders(context, source));
		@Nullable Object[] values = new @Nullable Object[this.parameters.length];
		for (int i = 0; i < values.length; i++) {
			Filled filled = this.parameters[i];
			if (filled != null) {
				values[i] = filled.resolve(message);
			}
		}
		return values;
	}

	/**
	 * A parameter that is filled.
	 *
	 * @param parameter the parameter
	 * @param resolver who fills it
	 * @param payload whether it gets the payload
	 */
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
			// Whatever it is: the same record brings it about again.
			catch (Exception ex) {
				throw new PayloadConversionException("Parameter %d, of type %s, cannot be filled from the record: %s"
					.formatted(this.parameter.getParameterIndex() + 1,
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
