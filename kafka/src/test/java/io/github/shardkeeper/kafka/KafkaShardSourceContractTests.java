package io.github.shardkeeper.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.test.ShardSourceContract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/** Each test has topics of its own. */
@Execution(ExecutionMode.CONCURRENT)
class KafkaShardSourceContractTests extends ShardSourceContract {

	private static final int ROUNDS = 60;

	private static final AtomicInteger NUMBERS = new AtomicInteger();

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private int partitions;

	private final String prefix = "contract-%d-".formatted(NUMBERS.incrementAndGet());

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		Map<String, KafkaTopic> mappings = new HashMap<>();
		topics.forEach((topic, partitions) -> {
			this.kafka.createTopic(this.prefix + topic, partitions);
			mappings.put(topic, KafkaTopic.named(this.prefix + topic));
		});
		Map<String, Object> properties = this.kafka.clientProperties();
		properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 30);
		return new KafkaShardSource(KafkaSourceSettings.of(mappings, properties));
	}

	/** Somebody else adds the partitions that the source does not know yet. */
	@Override
	protected ShardAppender appender(ShardSource created) {
		KafkaShardSource source = (KafkaShardSource) created;
		return new ShardAppender() {

			@Override
			public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
				records.forEach((newRecord) -> require(source, newRecord.shard()));
				return source.append(records);
			}

			@Override
			public void check(NewRecord newRecord) {
				source.check(newRecord);
			}

		};
	}

	private void require(KafkaShardSource source, ShardId shard) {
		int partitions = Integer.parseInt(shard.id()) + 1;
		this.partitions = Math.max(this.partitions, source.topics().get(shard.topic()).count());
		if (partitions <= this.partitions) {
			return;
		}
		this.partitions = partitions;
		String topic = this.prefix + shard.topic();
		try (Admin admin = this.kafka.admin()) {
			admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions))).all().get();
			await().until(
					() -> admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size(),
					(known) -> known == partitions);
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void recordWithAnIdIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> append(List.of(new NewRecord(SHARD, null, new byte[0], Map.of(), "id"))))
			.withMessageContaining("'enable.idempotence'")
			.withMessageContaining("withId(…)");
	}

	@Test
	void offsetsAreThoseOfKafka() {
		assertThat(append(SHARD, 1, 3)).containsExactly(new Offset("0"), new Offset("1"), new Offset("2"));
	}

	@Test
	void manyStartsAndResumesWhileRecordsArriveLoseAndRepeatNone() throws InterruptedException {
		RecordingSink sink = start(SHARD, null);
		Set<Integer> others = Set.of(2, 3, 4, 5, 6);
		Thread disturbing = new Thread(() -> {
			for (int round = 0; round < ROUNDS; round++) {
				for (int other : others) {
					reader().start(ShardId.of("orders", other), null, (records) -> true);
					reader().resume(SHARD);
				}
				others.forEach((other) -> reader().stop(ShardId.of("orders", other)));
			}
		});
		disturbing.start();
		for (int number = 1; number <= ROUNDS; number++) {
			append(SHARD, number, number);
		}
		List<SourceRecord> records = sink.await(ROUNDS);
		disturbing.join();

		assertThat(records).extracting((each) -> each.offset().value())
			.containsExactlyElementsOf(IntStream.range(0, ROUNDS).mapToObj(Integer::toString).toList());
		assertThat(sink.pending()).isEmpty();
		assertThat(failures()).isEmpty();
	}

}
