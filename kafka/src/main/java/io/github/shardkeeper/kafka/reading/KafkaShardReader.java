package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Reads all shards with one {@link PartitionConsumer}, to which partitions are assigned
 * without a group, and which is confined to the polling thread: other threads queue
 * commands, and wake it if it waits.
 */
public final class KafkaShardReader implements ShardReader {

	/** Time for a reply to a fetch, beyond that for which brokers hold it back. */
	private static final Duration SILENCE = Duration.ofSeconds(5);

	private final TopicDirectory directory;

	private final @Nullable GroupMirror mirror;

	private final Watch watch;

	/** Shards that are started and not stopped. */
	private final Map<ShardId, ReadPosition> positions = new ConcurrentHashMap<>();

	/** Shards whose ids name no partition, or whose offsets are of another source. */
	private final Map<ShardId, String> unreadable = new ConcurrentHashMap<>();

	private final ConsumerCommands commands = new ConsumerCommands();

	private final PartitionHealth health;

	private final PartitionConsumer partitions;

	public KafkaShardReader(Function<Runnable, Consumer<String, byte[]>> consumers, KafkaClientListener listener,
			OffsetLookup offsets, TopicDirectory directory, KafkaFailure failures, @Nullable GroupMirror mirror,
			Throttling throttling, @Nullable HangingTransactions transactions, Duration fetchWait,
			Duration gapInterval) {
		this.directory = directory;
		this.mirror = mirror;
		MonotonicClock clock = MonotonicClock.SYSTEM;
		this.health = new PartitionHealth(directory, throttling, SILENCE.plus(fetchWait), transactions, clock.now());
		this.partitions = new PartitionConsumer(consumers, listener, offsets, directory, failures, this.commands,
				this.health, gapInterval, clock);
		this.watch = directory.watch(() -> this.commands.execute(this.partitions::rearrange));
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		stop(shard);
		TopicPartition partition = this.directory.partition(shard);
		if (partition == null) {
			this.unreadable.put(shard,
					"%s is no partition of a Kafka topic: its topic's mapping in 'shardkeeper.kafka.topics' has changed"
						.formatted(shard));
			return;
		}
		KafkaOffset last = KafkaOffset.BEGINNING;
		try {
			last = (after != null) ? KafkaOffset.parse(after) : last;
		}
		catch (IllegalArgumentException ex) {
			this.unreadable.put(shard,
					"The checkpoint of %s is not of Kafka: %s. Set its position with ShardPositions, or use another group or topic"
						.formatted(shard, ex.getMessage()));
			return;
		}
		if (this.mirror != null) {
			this.mirror.started(shard, partition, (after != null) ? last.next() : null, sink);
		}
		ReadPosition position = new ReadPosition(shard, partition, last, sink, this.directory.number());
		this.positions.put(shard, position);
		this.commands.execute(() -> this.partitions.begin(position));
	}

	@Override
	public void stop(ShardId shard) {
		this.unreadable.remove(shard);
		ReadPosition position = this.positions.remove(shard);
		if (position != null) {
			position.stop();
			if (this.mirror != null) {
				this.mirror.stopped(shard);
			}
			this.commands.execute(() -> this.partitions.end(position));
		}
	}

	@Override
	public void resume(ShardId shard) {
		ReadPosition position = this.positions.get(shard);
		if (position != null) {
			this.commands.execute(() -> this.partitions.resume(position));
		}
	}

	@Override
	public void committed(ShardId shard, Offset offset) {
		if (this.unreadable.containsKey(shard)) {
			return;
		}
		KafkaOffset committed = KafkaOffset.parse(offset);
		ReadPosition position = this.positions.get(shard);
		if (position != null) {
			position.committed(committed.last());
		}
		GroupMirror group = this.mirror;
		TopicPartition partition = (group != null) ? this.directory.partition(shard) : null;
		if (group != null && partition != null) {
			group.committed(shard, partition, committed.next());
		}
	}

	@Override
	public boolean poll() throws InterruptedException {
		if (!this.commands.begin()) {
			return false;
		}
		try {
			return this.partitions.poll();
		}
		finally {
			if (this.commands.end()) {
				this.partitions.close();
			}
		}
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>(this.unreadable);
		this.positions.forEach((shard, position) -> {
			String own = position.problem();
			String problem = (own != null) ? own : this.health.problem(position);
			if (problem != null) {
				problems.put(shard, problem);
			}
		});
		return problems;
	}

	@Override
	public void close() {
		this.watch.close();
		this.positions.values().forEach(ReadPosition::stop);
		if (this.commands.close()) {
			this.partitions.close();
		}
	}

}
