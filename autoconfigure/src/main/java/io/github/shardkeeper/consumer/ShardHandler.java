package io.github.shardkeeper.consumer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

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

	ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer, List<HandlerSignature> preparing,
			List<HandlerSignature> assigned, List<HandlerSignature> revoked, PayloadConverter converter) {
		this.topic = topic;
		this.bean = bean;
		this.consumer = consumer;
		this.preparing = preparing;
		this.assigned = assigned;
		this.revoked = revoked;
		this.converter = converter;
	}

	String topic() {
		return this.topic;
	}

	/** The method's name, for messages. */
	String name() {
		return this.consumer.name();
	}

	/**
	 * Converts a record for the handler's method.
	 * @throws io.github.shardkeeper.source.PayloadConversionException when its payload is
	 * not what the method expects
	 */
	@Nullable ShardRecord<Object> convert(ShardContext context, SourceRecord source) {
		if (this.consumer.payloadType() == null) {
			return null;
		}
		Object payload = this.converter.read(source.payload(), this.consumer.payloadType());
		return new ShardRecord<>(context.shard(), source.offset(), source.key(), payload, source.headers(),
				source.timestamp());
	}

	void handle(@Nullable ShardRecord<Object> converted, ShardContext context, ShardState state) throws Throwable {
		invoke(this.consumer, converted, context, state);
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
			invoke(callback, null, context, null);
		}
	}

	void assigned(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.assigned) {
			invoke(callback, null, context, state);
		}
	}

	void revoked(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.revoked) {
			invoke(callback, null, context, state);
		}
	}

	private void invoke(HandlerSignature signature, @Nullable ShardRecord<Object> converted, ShardContext context,
			@Nullable ShardState state) throws Throwable {
		Object target = this.bean.get();
		Method method = signature.invocableOn(target);
		try {
			method.invoke(target, signature.arguments(converted, context, state));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
