package io.github.shardkeeper.kafka.record;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Writes payloads with a serializer of Kafka, which gets the Kafka topic and the headers
 * of the record and may add headers. Thread-safe, because serializers are: a producer
 * calls them from many threads, too.
 */
public final class SerializedPayloads implements PayloadConverter, AutoCloseable {

	private final Serializer<Object> serializer;

	private final PayloadConverter others;

	private final Map<String, KafkaTopic> topics;

	/**
	 * Creates a converter.
	 * @param serializer a configured serializer of values
	 * @param others reads payloads, and writes those without a record
	 * @param topics by topic the Kafka topics to which it sends
	 */
	@SuppressWarnings("unchecked")
	public SerializedPayloads(Serializer<?> serializer, PayloadConverter others, Map<String, KafkaTopic> topics) {
		this.serializer = (Serializer<Object>) Objects.requireNonNull(serializer, "serializer must not be null");
		this.others = Objects.requireNonNull(others, "others must not be null");
		this.topics = Map.copyOf(topics);
	}

	@Override
	public byte[] write(Object payload) {
		return this.others.write(payload);
	}

	/**
	 * Converts the payload of a record to send.
	 * @throws IllegalArgumentException if the serializer takes no such payload
	 * @throws SendFailedException if the serializer fails: it may depend on a service
	 */
	@Override
	public byte[] write(ShardId shard, Object payload, Map<String, String> headers) {
		KafkaTopic mapping = this.topics.get(shard.topic());
		String name = (mapping != null) ? mapping.name() : null;
		RecordHeaders all = new RecordHeaders();
		RecordText.addTo(all, headers);
		byte[] data;
		try {
			data = this.serializer.serialize((name != null) ? name : shard.topic(), all, payload);
		}
		catch (ClassCastException ex) {
			throw new IllegalArgumentException(
					"The serializer %s takes no %s. Change one of them, or remove 'shardkeeper.kafka.serializers'"
						.formatted(this.serializer.getClass().getName(), payload.getClass().getName()),
					ex);
		}
		catch (RuntimeException ex) {
			throw new SendFailedException("Not sent to %s: the serializer %s has failed: %s".formatted(shard,
					this.serializer.getClass().getName(), ex.getMessage()), ex, false);
		}
		if (data == null) {
			throw new IllegalArgumentException("The serializer %s has returned no bytes for a %s"
				.formatted(this.serializer.getClass().getName(), payload.getClass().getName()));
		}
		Map<String, String> texts = RecordText.headers(all, RecordText.isTombstone(headers));
		headers.clear();
		headers.putAll(texts);
		return data;
	}

	@Override
	public Object read(byte[] payload, Type type) {
		return this.others.read(payload, type);
	}

	@Override
	public Object read(ShardId shard, SourceRecord source, Type type) {
		return this.others.read(shard, source, type);
	}

	/** Closes the serializer. */
	@Override
	public void close() {
		this.serializer.close();
	}

}
