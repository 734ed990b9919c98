package io.github.shardkeeper.kafka;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A broker that has lost records which were handled already, and gives their offsets to
 * others.
 */
@CapturesOutput
@Tag("proof")
class KafkaTruncationTests {

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final EmbeddedKafka KAFKA = EmbeddedKafka.start();

	@AfterAll
	static void close() {
		KAFKA.close();
	}

	@Test
	void recordsThatReplaceLostOnesAreHandled(CapturedOutput output) {
		String position = handleFortyAndLoseTwenty("replaced");
		try (PolledSource source = source("replaced", ResetPolicy.EARLIEST)) {
			source.append(SHARD, 41, 90);
			RecordingSink sink = source.start(SHARD, position);

			assertThat(PolledSource.payloads(sink.await(50))).containsExactlyElementsOf(payloads(41, 90));
			assertThat(PolledSource.moves(sink)).containsExactly("reused after 19");
			assertThat(output).contains("orders/0 was to be read from offset 40")
				.contains("the partition has lost records that were read")
				.contains("Reading resumes at offset 20")
				.contains("Up to 20 records that were handled are lost in Kafka");
			assertThat(source.reader().problems()).isEmpty();
		}
	}

	/** The position is beyond the end then. */
	@Test
	void recordsBeforeTheLostOnesAreNotHandledAgain() {
		String position = handleFortyAndLoseTwenty("fewer");
		try (PolledSource source = source("fewer", ResetPolicy.LATEST)) {
			source.append(SHARD, 41, 45);
			RecordingSink sink = source.start(SHARD, position);

			assertThat(PolledSource.payloads(sink.await(5))).containsExactlyElementsOf(payloads(41, 45));
			assertThat(PolledSource.moves(sink)).containsExactly("reused after 19");
		}
	}

	@Test
	void shardWaitsForItsPositionIfSomebodyHasToDecide() {
		String position = handleFortyAndLoseTwenty("stopped");
		try (PolledSource source = source("stopped", ResetPolicy.STOP)) {
			source.append(SHARD, 41, 90);
			RecordingSink stopped = source.start(SHARD, position);
			await().untilAsserted(() -> assertThat(source.reader().problems()).hasEntrySatisfying(SHARD,
					(problem) -> assertThat(problem).contains("has lost records that were read")
						.contains("ShardPositions")));
			RecordingSink sink = source.start(SHARD, "19");

			assertThat(PolledSource.payloads(sink.await(50))).containsExactlyElementsOf(payloads(41, 90));
			assertThat(stopped.delivered()).isZero();
		}
	}

	/** Returns the position of a checkpoint after 40 records, of which Kafka has 20. */
	private static String handleFortyAndLoseTwenty(String topic) {
		KAFKA.createTopic(topic, 1);
		List<SourceRecord> handled;
		try (PolledSource source = source(topic, ResetPolicy.STOP)) {
			source.append(SHARD, 1, 20);
			source.append(SHARD, 21, 40);
			handled = source.start(SHARD, null).await(40);
		}
		assertThat(KAFKA.loseRecords(topic, 0, 20)).isEqualTo(20);
		return handled.get(39).position().value();
	}

	private static PolledSource source(String topic, ResetPolicy reset) {
		return PolledSource.of(KAFKA.clientProperties(), "orders", KafkaTopic.named(topic).withReset(reset));
	}

	private static List<String> payloads(int first, int last) {
		return IntStream.rangeClosed(first, last).mapToObj((number) -> "r" + number).toList();
	}

}
