package io.github.shardkeeper.kafka.reading;

import java.util.List;
import java.util.Optional;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Texts of positions.
 */
class KafkaOffsetTests {

	private static final Uuid TOPIC = Uuid.fromString("sT3RkZ0bQXqJ3nVx7oWq2A");

	@Test
	void textIsReadAsItIsWritten() {
		for (String text : List.of("-1", "0", "1042", "9223372036854775807", "1042:7", "1042:" + TOPIC,
				"1042:0:" + TOPIC, "-1:-T3RkZ0bQXqJ3nVx7oW_2A")) {
			assertThat(KafkaOffset.parse(new Offset(text)).toOffset()).isEqualTo(new Offset(text));
		}
	}

	@Test
	void textHasTheOffsetTheEpochAndTheIdOfTheTopic() {
		KafkaOffset offset = KafkaOffset.parse(new Offset("1042:7:" + TOPIC));

		assertThat(offset).isEqualTo(new KafkaOffset(1042, 7, TOPIC));
		assertThat(offset.next()).isEqualTo(new OffsetAndMetadata(1043, Optional.of(7), ""));
		assertThat(offset.previous().toOffset()).isEqualTo(new Offset("1041:7:" + TOPIC));
		assertThat(KafkaOffset.BEGINNING.previous()).isEqualTo(KafkaOffset.BEGINNING);
	}

	@Test
	void otherTextIsRefusedWithExamples() {
		for (String text : List.of("-2", "1795234348101-0", "begin", "1042:", "1042:x", "1042:7:short",
				"1042:9999999999", "9999999999999999999", " 1")) {
			assertThatIllegalArgumentException().isThrownBy(() -> KafkaOffset.parse(new Offset(text)))
				.withMessageContaining("'%s' is no offset of a Kafka partition".formatted(text))
				.withMessageContaining("a number like 1042");
		}
	}

	@Test
	void idOfABrokerWithoutIdsIsUnknown() {
		assertThat(KafkaOffset.known(Uuid.ZERO_UUID)).isNull();
		assertThat(KafkaOffset.known(TOPIC)).isEqualTo(TOPIC);
	}

}
