package io.github.shardkeeper.kafka.record;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DeserializedPayloadsTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final AtomicInteger open = new AtomicInteger();

	private Runnable onRead = () -> {
	};

	private final DeserializedPayloads payloads = new DeserializedPayloads(this::deserializer,
			new JsonPayloadConverter(new JsonMapper()), Map.of("orders", KafkaTopic.named("orders")));

	@Test
	void primitiveTypeTakesItsWrapper() {
		assertThat(read(long.class)).isEqualTo(7L);
		assertThat(read(Long.class)).isEqualTo(7L);
		assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> read(int.class))
			.withMessageContaining("the handler takes a int");
	}

	@Test
	void deserializersAreClosed() {
		this.onRead = () -> {
			this.onRead = () -> {
			};
			read(long.class);
		};
		read(long.class);
		assertThat(this.open).as("one for each call at the same time").hasValue(2);
		this.payloads.close();

		assertThat(this.open).hasValue(0);
	}

	@Test
	void deserializerThatIsInUseIsClosedAfterTheCall() {
		this.onRead = this.payloads::close;
		assertThat(read(long.class)).isEqualTo(7L);
		assertThat(this.open).hasValue(0);
		assertThat(read(long.class)).as("of a handler that has not returned").isEqualTo(7L);

		assertThat(this.open).hasValue(0);
	}

	private Object read(Class<?> type) {
		byte[] seven = ByteBuffer.allocate(8).putLong(7).array();
		return this.payloads.read(SHARD, new SourceRecord(new Offset("0"), null, seven, Instant.EPOCH), type);
	}

	private Deserializer<?> deserializer() {
		this.open.incrementAndGet();
		return new LongDeserializer() {

			@Override
			public Long deserialize(String topic, byte[] data) {
				DeserializedPayloadsTests.this.onRead.run();
				return super.deserialize(topic, data);
			}

			@Override
			public void close() {
				DeserializedPayloadsTests.this.open.decrementAndGet();
			}

		};
	}

}
