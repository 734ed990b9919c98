package io.github.shardkeeper.kafka.record;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.JsonPayloadConverter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Serializers of Kafka that write the payloads of a template.
 */
class SerializedPayloadsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final Map<String, String> headers = new LinkedHashMap<>(Map.of("kind", "text"));

	@Test
	void serializerGetsTopicAndHeadersAndMayAddSome() {
		SerializedPayloads payloads = payloads(new StringSerializer() {

			@Override
			public byte[] serialize(String topic, Headers all, String data) {
				String kind = new String(all.lastHeader("kind").value(), StandardCharsets.UTF_8);
				all.add("schema", new byte[] { (byte) 0xff });
				return String.join(" ", topic, kind, data).getBytes(StandardCharsets.UTF_8);
			}

		});

		assertThat(payloads.write(SHARD, "payload", this.headers)).asString().isEqualTo("shop.orders text payload");
		assertThat(this.headers).containsExactly(Map.entry("kind", "text"), Map.entry("schema", "base64:/w=="));
		assertThat(RecordText.sent("base64:/w==")).as("what is sent").containsExactly(0xff);
		assertThat(payloads.write("payload")).as("without a record").asString().isEqualTo("payload");
	}

	@Test
	void payloadOfAnotherClassIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> payloads(new StringSerializer()).write(SHARD, 7L, this.headers))
			.withMessageContaining("StringSerializer takes no java.lang.Long")
			.withMessageContaining("'shardkeeper.kafka.serializers'");
	}

	@Test
	void serializerThatFailsMayBeTriedAgain() {
		SerializedPayloads payloads = payloads(new StringSerializer() {

			@Override
			public byte[] serialize(String topic, Headers all, String data) {
				throw new SerializationException("the registry does not reply");
			}

		});

		assertThatExceptionOfType(SendFailedException.class)
			.isThrownBy(() -> payloads.write(SHARD, "payload", this.headers))
			.withMessageContaining("the registry does not reply")
			.satisfies((failure) -> assertThat(failure.mayHaveBeenAppended()).isFalse());
		assertThat(this.headers).containsOnlyKeys("kind");
	}

	@Test
	void textThatOnlyLooksLikeBinaryIsSentAsText() {
		assertThat(RecordText.sent("base64:YWJj")).asString().isEqualTo("base64:YWJj");
		assertThat(RecordText.sent("base64:no base64")).asString().isEqualTo("base64:no base64");
		assertThat(RecordText.sent("text")).asString().isEqualTo("text");
	}

	private static SerializedPayloads payloads(Serializer<?> serializer) {
		return new SerializedPayloads(serializer, new JsonPayloadConverter(new JsonMapper()),
				Map.of("orders", KafkaTopic.named("shop.orders")));
	}

}
