package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.testsupport.CapturesOutput;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is logged, also by Kafka's own client, when a topic is deleted that is read.
 */
@CapturesOutput
class VanishedTopicTests {

	private static final int PARTITIONS = 24;

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final Logger client = (Logger) LoggerFactory.getLogger("org.apache.kafka");

	private final Level level = this.client.getLevel();

	private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.client.setLevel(Level.WARN);
		this.client.setAdditive(false);
		this.client.addAppender(this.logged);
		this.logged.start();
	}

	@AfterEach
	void stop() {
		this.client.detachAppender(this.logged);
		this.client.setAdditive(true);
		this.client.setLevel(this.level);
	}

	@Test
	void consumerDoesNotAskAgainAndAgainForATopicThatWasDeleted() throws Exception {
		this.kafka.createTopic("vanished", PARTITIONS);
		this.kafka.createTopic("staying", 1);
		Map<String, KafkaTopic> topics = Map.of("orders", KafkaTopic.named("vanished"), "others",
				KafkaTopic.named("staying"));
		Map<String, Object> properties = new HashMap<>(this.kafka.clientProperties());
		try (PolledSource source = new PolledSource(new KafkaSourceSettings(topics, properties, properties, properties,
				Duration.ofSeconds(2), null, KafkaSourceSettings.LONG_TRANSACTION))) {
			ShardId other = ShardId.of("others", 0);
			RecordingSink others = source.start(other, null);
			IntStream.range(0, PARTITIONS).mapToObj((number) -> ShardId.of("orders", number)).forEach((shard) -> {
				RecordingSink sink = source.start(shard, null);
				source.append(shard, 1, 1);
				sink.await(1);
			});
			try (Admin admin = this.kafka.admin()) {
				admin.deleteTopics(List.of("vanished")).all().get();
			}
			await().until(() -> source.source().problems().containsKey("orders"));
			await().until(() -> source.reader().problems().size() == PARTITIONS);
			source.append(other, 1, 1);
			others.await(1);

			assertThat(this.logged.list).as("a few lines per partition").hasSizeLessThan(10 * PARTITIONS);
			int before = this.logged.list.size();
			this.kafka.createTopic("vanished", PARTITIONS);
			await().until(() -> source.reader().problems().isEmpty());
			RecordingSink again = source.start(ShardId.of("orders", 7), null);
			source.append(ShardId.of("orders", 7), 2, 2);
			assertThat(PolledSource.payloads(again.await(1))).containsExactly("r2");
			assertThat(this.logged.list).hasSizeLessThan(before + PARTITIONS);
		}
	}

}
