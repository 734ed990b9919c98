package io.github.shardkeeper.kafka;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.record.DeserializedPayloads;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Headers that stand for what Kafka has and a text has not: no value.
 */
class RecordHeadersTests {

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final String topic = "headers-" + NUMBERS.incrementAndGet();

	@Test
	void headerOfAProducerMakesNoTombstone() throws Exception {
		SourceRecord read = read(record("value", "kafka.tombstone", bytes("true")));

		assertThat(read.payload()).asString().isEqualTo("value");
		assertThat(read.headers()).isEmpty();
		assertThat(deserialized(read).value()).as("what a deserializer gets").asString().isEqualTo("value");
	}

	@Test
	void headerOfATombstoneIsKafkasOwn() throws Exception {
		SourceRecord read = read(record(null, "kafka.tombstone", bytes("false")));

		assertThat(read.headers()).containsExactly(Map.entry("kafka.tombstone", "true"));
		assertThat(deserialized(read).value()).isNull();
		assertThat(deserialized(read).headers()).as("what a deserializer gets").isEmpty();
	}

	@Test
	void headerWithoutValueIsNoEmptyOne() throws Exception {
		ProducerRecord<byte[], byte[]> sent = record("value", "none", null);
		sent.headers().add("empty", new byte[0]);
		sent.headers().add("twice", null).add("twice", bytes("2"));
		sent.headers().add("kafka.null.empty", bytes("true"));
		SourceRecord read = read(sent);

		assertThat(read.headers()).isEqualTo(Map.of("none", "", "kafka.null.none", "true", "empty", "", "twice", "2"));
		assertThat(deserialized(read).headers()).as("what a deserializer gets")
			.containsExactlyInAnyOrder("none=null", "empty=", "twice=2");
	}

	@Test
	void whatIsReadCanBeSentAgain() throws Exception {
		ProducerRecord<byte[], byte[]> sent = record(null, "none", null);
		sent.headers().add("binary", new byte[] { (byte) 0xff });
		SourceRecord read = read(sent);
		try (PolledSource source = source()) {
			NewRecord again = new NewRecord(SHARD, read.key(), read.payload(), read.headers());
			source.source().append(List.of(again)).get(0).join();
			SourceRecord copy = source.start(SHARD, "0").await(1).get(0);

			assertThat(copy.headers()).isEqualTo(read.headers())
				.containsOnlyKeys("none", "kafka.null.none", "binary", "kafka.tombstone");
			assertThat(deserialized(copy).value()).as("a tombstone").isNull();
			assertThat(deserialized(copy).headers()).contains("none=null");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> source.source()
					.append(List.of(new NewRecord(SHARD, "key", bytes("value"), Map.of("kafka.tombstone", "true")))))
				.withMessageContaining("'kafka.tombstone'")
				.withMessageContaining("5 bytes");
		}
	}

	private SourceRecord read(ProducerRecord<byte[], byte[]> sent) throws Exception {
		this.kafka.createTopic(this.topic, 1);
		try (PolledSource source = source();
				KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(this.kafka.clientProperties(),
						new ByteArraySerializer(), new ByteArraySerializer())) {
			producer.send(sent).get();
			return source.start(SHARD, null).await(1).get(0);
		}
	}

	private PolledSource source() {
		return PolledSource.of(this.kafka.clientProperties(), "orders", KafkaTopic.named(this.topic));
	}

	private ProducerRecord<byte[], byte[]> record(String value, String header, byte[] headerValue) {
		ProducerRecord<byte[], byte[]> created = new ProducerRecord<>(this.topic, 0, bytes("key"),
				(value != null) ? bytes(value) : null);
		created.headers().add(header, headerValue);
		return created;
	}

	private Deserialized deserialized(SourceRecord read) {
		List<Deserialized> got = new ArrayList<>();
		try (DeserializedPayloads payloads = new DeserializedPayloads(() -> new Deserializer<>() {

			@Override
			public Object deserialize(String kafkaTopic, byte[] data) {
				throw new UnsupportedOperationException();
			}

			@Override
			public Object deserialize(String kafkaTopic, Headers headers, byte[] data) {
				List<String> texts = new ArrayList<>();
				for (Header each : headers) {
					texts.add(each.key() + "="
							+ ((each.value() != null) ? new String(each.value(), StandardCharsets.UTF_8) : null));
				}
				got.add(new Deserialized(data, texts));
				return "deserialized";
			}

		}, new JsonPayloadConverter(new JsonMapper()), Map.of("orders", KafkaTopic.named(this.topic)))) {
			payloads.read(SHARD, read, String.class);
		}
		return got.get(0);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** What a deserializer of Kafka got. */
	private record Deserialized(byte[] value, List<String> headers) {

	}

}
