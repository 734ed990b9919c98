package io.github.shardkeeper.kafka.record;

import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Reads payloads with a deserializer of Kafka, which gets the Kafka topic and the headers
 * of the record. What it returns must be an instance of the type that the handler
 * declares. Thread-safe: calls at the same time use several instances.
 */
public final class DeserializedPayloads implements PayloadConverter, AutoCloseable {

	private static final Logger logger = PrintableLogger.of(DeserializedPayloads.class);

	private final Supplier<Deserializer<?>> deserializers;

	private final PayloadConverter others;

	private final Map<String, KafkaTopic> topics;

	/** Guarded by itself, like the next field. */
	private final Deque<Deserializer<?>> idle = new ArrayDeque<>();

	private boolean closed;

	/**
	 * Creates a converter, and the first deserializer, so that a wrong one is found.
	 * @param deserializers creates configured deserializers of values
	 * @param others writes payloads, and reads those without a record
	 * @param topics by topic the Kafka topics that it reads
	 */
	public DeserializedPayloads(Supplier<Deserializer<?>> deserializers, PayloadConverter others,
			Map<String, KafkaTopic> topics) {
		this.deserializers = Objects.requireNonNull(deserializers, "deserializers must not be null");
		this.others = Objects.requireNonNull(others, "others must not be null");
		this.topics = Map.copyOf(topics);
		this.idle.add(deserializers.get());
	}

	@Override
	public byte[] write(Object payload) {
		return this.others.write(payload);
	}

	@Override
	public Object read(byte[] payload, Type type) {
		return this.others.read(payload, type);
	}

	@Override
	public Object read(ShardId shard, SourceRecord source, Type type) {
		Deserializer<?> deserializer = take();
		Object value;
		try {
			value = read(deserializer, kafkaTopic(shard), source);
		}
		finally {
			giveBack(deserializer);
		}
		if (value == null) {
			throw new PayloadConversionException("The deserializer %s has returned no value for the record"
				.formatted(deserializer.getClass().getName()));
		}
		Class<?> expected = raw(type);
		if (expected != null && !expected.isInstance(value)) {
			throw new PayloadConversionException(
					"The deserializer %s has returned a %s, but the handler takes a %s. Change one of them, or remove 'shardkeeper.kafka.deserializers'"
						.formatted(deserializer.getClass().getName(), value.getClass().getName(), type.getTypeName()));
		}
		return value;
	}

	private Deserializer<?> take() {
		synchronized (this.idle) {
			Deserializer<?> idleOne = this.idle.poll();
			if (idleOne != null) {
				return idleOne;
			}
		}
		return this.deserializers.get();
	}

	/** A handler may run longer than the application context that closes this. */
	private void giveBack(Deserializer<?> deserializer) {
		synchronized (this.idle) {
			if (!this.closed) {
				this.idle.add(deserializer);
				return;
			}
		}
		close(deserializer);
	}

	/** Closes the deserializers; one that is in use now, after that. */
	@Override
	public void close() {
		List<Deserializer<?>> unused;
		synchronized (this.idle) {
			this.closed = true;
			unused = List.copyOf(this.idle);
			this.idle.clear();
		}
		unused.forEach(DeserializedPayloads::close);
	}

	private static void close(Deserializer<?> deserializer) {
		try {
			deserializer.close();
		}
		catch (RuntimeException ex) {
			logger.warn("The deserializer {} was not closed", deserializer.getClass().getName(), ex);
		}
	}

	private static @Nullable Object read(Deserializer<?> deserializer, String topic, SourceRecord source) {
		RecordHeaders headers = new RecordHeaders();
		RecordText.addTo(headers, source.headers());
		byte[] data = RecordText.isTombstone(source.headers()) ? null : source.payload();
		return deserializer.deserialize(topic, headers, data);
	}

	private String kafkaTopic(ShardId shard) {
		KafkaTopic mapping = this.topics.get(shard.topic());
		String name = (mapping != null) ? mapping.name() : shard.topic();
		return (name != null) ? name : shard.id().substring(0, Math.max(0, shard.id().lastIndexOf('-')));
	}

	private static @Nullable Class<?> raw(Type type) {
		Type declared = (type instanceof ParameterizedType parameterized) ? parameterized.getRawType() : type;
		return (declared instanceof Class<?> one) ? MethodType.methodType(one).wrap().returnType() : null;
	}

}
