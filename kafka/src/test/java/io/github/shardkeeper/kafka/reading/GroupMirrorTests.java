package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.EmbeddedKafka;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Who writes which offset into a Kafka group, and when. Two mirrors are two instances.
 */
class GroupMirrorTests {

	private static final String TOPIC = "mirrored-" + UUID.randomUUID();

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

	private static final Duration NEVER = Duration.ofHours(1);

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final String group = "group-" + UUID.randomUUID();

	private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);

	private final AtomicReference<MonotonicTime> now = new AtomicReference<>(MonotonicClock.SYSTEM.now());

	private final Owner owner = new Owner();

	private final Owner heir = new Owner();

	private KafkaAdmin admin;

	@BeforeEach
	void createTopic() {
		try (Admin created = this.kafka.admin()) {
			if (!created.listTopics().names().toCompletionStage().toCompletableFuture().join().contains(TOPIC)) {
				this.kafka.createTopic(TOPIC, 2);
			}
		}
		KafkaSourceSettings settings = KafkaSourceSettings.of(Map.of("orders", KafkaTopic.named(TOPIC)),
				this.kafka.clientProperties());
		this.admin = new KafkaAdmin(settings.adminProperties(""), new KafkaFailure(settings.servers()),
				KafkaClientListener.NONE);
	}

	@AfterEach
	void close() {
		this.executor.shutdownNow();
		this.admin.close();
	}

	@Test
	void ownerWritesWhatItHasAcquiredWithItsEpoch() {
		mirror(NEVER).started(SHARD, PARTITION, at(7), this.owner);
		this.now.updateAndGet((time) -> time.plus(GroupMirror.DELAY));

		await().untilAsserted(() -> assertThat(mirrored()).isEqualTo(at(7)));
	}

	/** As after a freeze: the write was due, and another instance has consumed since. */
	@Test
	void formerOwnerDoesNotTakeBackWhatItsHeirHasWritten() {
		GroupMirror former = mirror(NEVER);
		former.started(SHARD, PARTITION, null, this.owner);
		former.committed(SHARD, PARTITION, at(20));
		this.owner.owned = false;
		former.committed(SHARD, PARTITION, at(30));
		GroupMirror next = mirror(NEVER);
		next.started(SHARD, PARTITION, at(20), this.heir);
		next.committed(SHARD, PARTITION, at(90));
		send(next);
		send(former);

		assertThat(mirrored()).isEqualTo(at(90));
	}

	@Test
	void lastCommitOfAReleasedShardIsWrittenOnlyForAMoment() {
		GroupMirror former = mirror(NEVER);
		former.started(SHARD, PARTITION, at(5), this.owner);
		send(former);
		former.stopped(SHARD);
		former.committed(SHARD, PARTITION, at(8));
		await().untilAsserted(() -> assertThat(mirrored()).as("at once").isEqualTo(at(8)));

		this.executor.shutdownNow();
		former.committed(SHARD, PARTITION, at(9));
		this.now.updateAndGet((time) -> time.plus(GroupMirror.DELAY));
		send(former);
		assertThat(mirrored()).as("its heir may be further").isEqualTo(at(8));
	}

	@Test
	void ownerRenewsTheOffsetsOfIdleShardsAndFormerOwnersDoNot() {
		GroupMirror former = mirror(NEVER);
		former.started(ShardId.of("orders", 1), new TopicPartition(TOPIC, 1), at(3), this.owner);
		former.stopped(ShardId.of("orders", 1));
		GroupMirror idle = mirror(GroupMirror.INTERVAL);
		idle.started(SHARD, PARTITION, at(7), this.owner);
		send(idle);
		assertThat(mirrored()).isEqualTo(at(7));
		// As brokers do after 7 days.
		try (Admin client = this.kafka.admin()) {
			client.deleteConsumerGroups(List.of(this.group)).all().toCompletionStage().toCompletableFuture().join();
		}
		send(idle);
		assertThat(mirrored()).as("not changed").isNull();
		this.now.updateAndGet((time) -> time.plus(GroupMirror.INTERVAL));
		send(idle);

		assertThat(mirrored()).isEqualTo(at(7));
	}

	@Test
	void positionsOfTopicsThatNobodyOwnsAreNotWritten() {
		this.owner.owned = false;
		GroupMirror broadcast = mirror(NEVER);
		broadcast.started(SHARD, PARTITION, at(1), this.owner);
		broadcast.committed(SHARD, PARTITION, at(2));
		broadcast.stopped(SHARD);
		broadcast.committed(SHARD, PARTITION, at(3));
		send(broadcast);

		assertThat(mirrored()).isNull();
	}

	private GroupMirror mirror(Duration interval) {
		return new GroupMirror(this.group, this.admin, this.executor, interval, this.now::get);
	}

	/** Sends what is due once the delay of a commit has passed. */
	private void send(GroupMirror mirror) {
		this.now.updateAndGet((time) -> time.plus(GroupMirror.DELAY.plusMillis(1)));
		mirror.sendNow();
	}

	private static OffsetAndMetadata at(long next) {
		return new OffsetAndMetadata(next, Optional.of(0), "");
	}

	private OffsetAndMetadata mirrored() {
		try (Admin client = this.kafka.admin()) {
			return client.listConsumerGroupOffsets(this.group)
				.partitionsToOffsetAndMetadata()
				.toCompletionStage()
				.toCompletableFuture()
				.join()
				.get(PARTITION);
		}
	}

	private static final class Owner implements RecordSink {

		private volatile boolean owned = true;

		@Override
		public boolean offer(List<SourceRecord> records) {
			return true;
		}

		@Override
		public boolean isOwned() {
			return this.owned;
		}

	}

}
