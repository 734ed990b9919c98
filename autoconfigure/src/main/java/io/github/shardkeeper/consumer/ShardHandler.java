package io.github.shardkeeper.consumer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * The handler of one topic: a {@code @ShardConsumer} method with the
 * {@code @OnShardPreparing}, {@code @OnShardAssigned} and {@code @OnShardRevoked} methods
 * of its bean. Thread-safe.
 */
final class ShardHandler {

	private final String topic;

	private final Supplier<Object> bean;

	private final HandlerSignature consumer;

	private final List<HandlerSignature> preparing;

	private final List<HandlerSignature> assigned;

	private final List<HandlerSignature> revoked;

	private final PayloadConverter converter;

	private final @Nullable CallObserver observer;

	private final Duration interval;

	/**
	 * Creates a handler.
	 * @param observer stands around calls of the method, {@code null} for nobody
	 * @param interval the pause between two calls in loop mode
	 */
	ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer, List<HandlerSignature> preparing,
			List<HandlerSignature> assigned, List<HandlerSignature> revoked, PayloadConverter converter,
			@Nullable CallObserver observer, Duration interval) {
		this.topic = topic;
		this.bean = bean;
		this.consumer = consumer;
		this.preparing = preparing;
		this.assigned = assigned;
		this.revoked = revoked;
		this.converter = converter;
		this.observer = observer;
		this.interval = interval;
	}

	String topic() {
		return this.topic;
	}

	/** The method's name, for messages. */
	String name() {
		return this.consumer.name();
	}

	/** How often it is called, and with what. */
	HandlerShape shape() {
		return this.consumer.shape();
	}

	boolean takesState() {
		return this.consumer.takes(HandlerArgument.STATE);
	}

	boolean takesAcknowledgment() {
		return this.consumer.takes(HandlerArgument.ACKNOWLEDGMENT);
	}

	/** The pause from the end of one call to the next one in loop mode. */
	Duration interval() {
		return this.interval;
	}

	/**
	 * Converts a record for the handler's method; not for one that loops.
	 * @return what {@link #handle} wants of it
	 * @throws io.github.shardkeeper.source.PayloadConversionException when its payload is
	 * not what the method expects
	 */
	Object convert(ShardContext context, SourceRecord source) {
		Type type = this.consumer.payloadType();
		Object converted = this.consumer.filled((type != null) ? read(context, source, type) : null, context, source);
		return (this.observer != null) ? new Observed(converted, source) : converted;
	}

	private Object read(ShardContext context, SourceRecord source, Type type) {
		Object payload = Objects.requireNonNull(this.converter.read(source.payload(), type),
				() -> this.converter.getClass().getName() + ".read has returned null");
		return this.consumer.wantsWhole() ? new ShardRecord<>(context.shard(), source.offset(), source.key(), payload,
				source.headers(), source.timestamp()) : payload;
	}

	/**
	 * Calls the handler's method.
	 * @param converted what {@link #convert} has made of the record; for a batch a list
	 * of it, which nobody changes any more; {@code null} in loop mode
	 * @param acknowledgment {@code null} where the method takes none
	 */
	void handle(@Nullable Object converted, ShardContext context, @Nullable ShardState state,
			@Nullable Acknowledgment acknowledgment) throws Throwable {
		Object given = given(converted);
		if (this.observer == null) {
			invoke(this.consumer, given, context, state, acknowledgment);
		}
		else {
			this.observer.observe(context, Observed.sources(converted),
					() -> invoke(this.consumer, given, context, state, acknowledgment));
		}
	}

	/** What the method gets of it. */
	private @Nullable Object given(@Nullable Object converted) {
		if (converted == null) {
			return null;
		}
		boolean observed = this.observer != null;
		if (shape() == HandlerShape.BATCH) {
			List<?> all = (List<?>) converted;
			return observed ? all.stream().map(Observed::converted).toList() : Collections.unmodifiableList(all);
		}
		return observed ? Observed.converted(converted) : converted;
	}

	/** Whether the application wants to know of shards before they come. */
	boolean prepares() {
		return !this.preparing.isEmpty();
	}

	/** Their names, for messages. */
	String preparingNames() {
		return this.preparing.stream().map(HandlerSignature::name).collect(Collectors.joining(", "));
	}

	void prepare(ShardContext context) throws Throwable {
		for (HandlerSignature callback : this.preparing) {
			invoke(callback, null, context, null, null);
		}
	}

	void assigned(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.assigned) {
			invoke(callback, null, context, state, null);
		}
	}

	void revoked(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.revoked) {
			invoke(callback, null, context, state, null);
		}
	}

	private void invoke(HandlerSignature signature, @Nullable Object converted, ShardContext context,
			@Nullable ShardState state, @Nullable Acknowledgment acknowledgment) throws Throwable {
		Object target = this.bean.get();
		Method method = signature.invocableOn(target);
		try {
			method.invoke(target, signature.arguments(converted, context, state, acknowledgment));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/**
	 * A converted record that is still wanted as it was.
	 *
	 * @param converted what the method wants of it
	 * @param source the record
	 */
	private record Observed(Object converted, SourceRecord source) {

		static Object converted(Object observed) {
			return ((Observed) observed).converted();
		}

		static List<SourceRecord> sources(@Nullable Object given) {
			List<?> all = (given instanceof List<?> batch) ? batch : (given != null) ? List.of(given) : List.of();
			return all.stream().map((each) -> ((Observed) each).source()).toList();
		}

	}

}
