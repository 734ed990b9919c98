package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.kafka.clients.admin.CreatePartitionsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.kafka.client.DirectoryContents;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.KafkaSourceSettings;
import io.github.shardkeeper.kafka.client.KafkaTopic;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.kafka.reading.GroupMirror;
import io.github.shardkeeper.kafka.reading.GroupOffsets;
import io.github.shardkeeper.kafka.reading.HangingTransactions;
import io.github.shardkeeper.kafka.reading.KafkaOffset;
import io.github.shardkeeper.kafka.reading.KafkaShardReader;
import io.github.shardkeeper.kafka.record.RecordText;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.GroupPositions;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Topics in Kafka; a shard is a partition. The shard id is the number of the partition,
 * or {@code <Kafka topic>-<partition>} in a topic that reads several Kafka topics by a
 * pattern. An offset is the offset in the partition; {@code -1} is before all records. In
 * checkpoints it is followed by what it is one of, as in
 * {@code 1042:7:sT3RkZ0bQXqJ3nVx7oWq2A}: the epoch of the leader that wrote the record,
 * and the id of the Kafka topic. Both forms are valid as a position.
 * <p>
 * A record's key and headers are text: bytes that are not UTF-8 become {@code base64:}
 * and their Base64 form. A record without a value has an empty payload and the header
 * {@value RecordText#TOMBSTONE}, also one that is sent. A header without a value is
 * empty, and has another one whose name begins with {@value RecordText#NULL_PREFIX}. A
 * producer's own headers of these names are left out. The timestamp is the one that the
 * topic is configured with, the time of sending or of appending.
 * <p>
 * Reading uses no Kafka group, but may begin where one stands. A checkpoint of a topic
 * that was deleted and created again, or of another cluster, is recognized by the id, and
 * records that the brokers have lost by the epoch; then the
 * {@link io.github.shardkeeper.source.ResetPolicy} applies. What is <em>not</em>
 * guaranteed: that either is recognized for a position that is a number alone, nor that a
 * position beyond the end is waited for. Thread-safe. Connects when it is first used.
 */
public final class KafkaShardSource implements ShardSource, GroupPositions, ShardAppender, ShardTopics {

	private static final long IDLE_SECONDS = 30;

	/** Kafka replies with -1 if no record is as late as a time. */
	private static final long NO_RECORD = -2;

	/** Longest time for which the first record for a partition waits for its leader. */
	private static final Duration LEADER_LIMIT = Duration.ofSeconds(2);

	private static final AtomicInteger SOURCES = new AtomicInteger();

	private final KafkaSourceSettings settings;

	private final Duration fetchWait;

	/** Clients with equal ids in one process disturb each other's metrics. */
	private final String suffix;

	private final KafkaFailure failures;

	private final KafkaAdmin admin;

	private final ScheduledThreadPoolExecutor executor;

	private final TopicDirectory directory;

	private final OffsetLookup offsets;

	private final KafkaAppender appender;

	private final @Nullable GroupMirror mirror;

	private final KafkaClientListener listener;

	private final Throttling reading;

	private final Throttling sending;

	/**
	 * Creates a source.
	 * @param settings the topics and the properties of the clients
	 */
	public KafkaShardSource(KafkaSourceSettings settings) {
		this(settings, KafkaClientListener.NONE);
	}

	/**
	 * Creates a source with a listener of its clients.
	 * @param settings the topics and the properties of the clients
	 * @param listener the listener
	 */
	public KafkaShardSource(KafkaSourceSettings settings, KafkaClientListener listener) {
		this.settings = Objects.requireNonNull(settings, "settings must not be null");
		this.listener = Objects.requireNonNull(listener, "listener must not be null");
		this.fetchWait = settings.fetchWait();
		int number = SOURCES.incrementAndGet();
		this.suffix = (number > 1) ? "-" + number : "";
		this.failures = new KafkaFailure(settings.servers());
		this.admin = new KafkaAdmin(settings.adminProperties(this.suffix), this.failures, listener);
		this.executor = new ScheduledThreadPoolExecutor(1, KafkaShardSource::thread);
		this.executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		this.executor.allowCoreThreadTimeOut(true);
		this.executor.setRemoveOnCancelPolicy(true);
		this.directory = new TopicDirectory(settings, this.admin, this.failures, this.executor);
		this.offsets = new OffsetLookup(this.admin, settings.isolationLevel());
		this.reading = new Throttling(Throttling.Side.READING,
				KafkaSourceSettings.clientId(settings.readerProperties(this.suffix)));
		this.sending = new Throttling(Throttling.Side.SENDING,
				KafkaSourceSettings.clientId(settings.senderProperties(this.suffix)));
		this.appender = new KafkaAppender(this::newProducer, listener, this.directory,
				new FirstSendCheck(this.admin::client, LEADER_LIMIT), this.failures, this.sending,
				settings.maxRequestSize());
		String group = settings.mirrorGroup();
		this.mirror = (group != null)
				? new GroupMirror(group, this.admin, this.executor, GroupMirror.INTERVAL, MonotonicClock.SYSTEM) : null;
	}

	private static Thread thread(Runnable work) {
		Thread thread = new Thread(work, "shardkeeper-kafka");
		thread.setDaemon(true);
		return thread;
	}

	private Consumer<String, byte[]> newConsumer(Runnable onMetadata) {
		return new KafkaConsumer<>(this.settings.readerProperties(this.suffix),
				new RecordText.KeyDeserializer(onMetadata), new ByteArrayDeserializer());
	}

	private Producer<byte[], byte[]> newProducer() {
		return new KafkaProducer<>(this.settings.senderProperties(this.suffix), new ByteArraySerializer(),
				new ByteArraySerializer());
	}

	/** Waits for the first reply of Kafka, for a few seconds at most. */
	@Override
	public Map<String, TopicShards> topics() {
		return this.directory.topics();
	}

	@Override
	public Map<String, String> problems() {
		return this.directory.problems();
	}

	/** What brokers do by quotas of a client's id or user concerns all topics. */
	@Override
	public Map<String, String> throttled() {
		MonotonicTime now = MonotonicClock.SYSTEM.now();
		// After the last send nobody else would notice the end.
		String text = Stream.of(this.reading, this.sending)
			.peek((each) -> each.check(now))
			.map(Throttling::problem)
			.filter(Objects::nonNull)
			.collect(Collectors.joining(". "));
		return text.isEmpty() ? Map.of()
				: this.settings.topics().keySet().stream().collect(Collectors.toMap((topic) -> topic, (topic) -> text));
	}

	@Override
	public Watch watch(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		return this.directory.watch(onChange);
	}

	@Override
	public ShardReader openReader() {
		Duration interval = this.settings.refreshInterval();
		HangingTransactions transactions = this.offsets.isReadCommitted()
				? new HangingTransactions(this.offsets, this.admin, this.settings.longTransaction(), interval) : null;
		return new KafkaShardReader(this::newConsumer, this.listener, this.offsets, this.directory, this.failures,
				this.mirror, this.reading, transactions, this.fetchWait, interval);
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.Latest) {
			return found(ask(shards, OffsetSpec.latest()));
		}
		if (position instanceof StartPosition.At at) {
			// Before the times: a record that is appended meanwhile must not be skipped.
			Map<ShardId, Long> latest = ask(shards, OffsetSpec.latest());
			Map<ShardId, Long> earlier = ask(shards, OffsetSpec.forTimestamp(Math.max(0, at.time().toEpochMilli())));
			// Without a record of the time or later, the next one to be appended is the
			// first.
			earlier.replaceAll((shard, offset) -> (offset == NO_RECORD) ? latest.getOrDefault(shard, offset) : offset);
			return found(earlier);
		}
		KafkaOffset before = KafkaOffset.BEGINNING;
		if (position instanceof StartPosition.From from) {
			before = KafkaOffset.parse(from.first()).previous();
		}
		else if (position instanceof StartPosition.After after) {
			before = KafkaOffset.parse(after.last());
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			offsets.put(shard, before.toOffset());
		}
		return offsets;
	}

	@Override
	public Map<ShardId, Position> positions(String group, Collection<ShardId> shards) {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		Map<ShardId, TopicPartition> partitions = new HashMap<>();
		shards.forEach((shard) -> partitions.put(shard, requirePartition(shard)));
		return new GroupOffsets(this.admin, this.directory).positions(group, partitions);
	}

	/** Returns offsets that were found in the topics as they are now. */
	private Map<ShardId, Offset> found(Map<ShardId, Long> last) {
		Map<ShardId, Offset> offsets = new HashMap<>();
		last.forEach((shard, offset) -> {
			DirectoryContents.Described topic = this.directory.described(requirePartition(shard).topic());
			offsets.put(shard,
					new KafkaOffset(offset, null, (topic != null) ? KafkaOffset.known(topic.id()) : null).toOffset());
		});
		return offsets;
	}

	/**
	 * Counts offsets: also those of records that compaction has removed. Consumers that
	 * read committed records see those up to the last stable offset only.
	 */
	@Override
	public Lag lag(ShardId shard, Offset committed) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(committed, "committed must not be null");
		long next = KafkaOffset.parse(committed).last() + 1;
		TopicPartition partition = requirePartition(shard);
		if (!this.offsets.isReadCommitted()) {
			long end = this.offsets.end(partition);
			return (end <= next) ? Lag.NONE : new Lag(end - next, null);
		}
		OffsetLookup.Ends ends = this.offsets.ends(partition);
		long records = Math.max(0, ends.end() - next);
		return new Lag(records, (records == 0) ? Duration.ZERO : null,
				Math.min(records, Math.max(0, ends.stable() - next)));
	}

	/** Returns the offsets before those that are found, -2 for none. */
	private Map<ShardId, Long> ask(Collection<ShardId> shards, OffsetSpec wanted) {
		Map<ShardId, TopicPartition> partitions = new HashMap<>();
		Map<TopicPartition, OffsetSpec> wantedByPartition = new HashMap<>();
		for (ShardId shard : shards) {
			TopicPartition partition = requirePartition(shard);
			partitions.put(shard, partition);
			wantedByPartition.put(partition, wanted);
		}
		Map<TopicPartition, Long> found = this.offsets.ask(wantedByPartition);
		Map<ShardId, Long> offsets = new HashMap<>();
		partitions.forEach((shard, partition) -> offsets.put(shard, found.getOrDefault(partition, 0L) - 1));
		return offsets;
	}

	private TopicPartition requirePartition(ShardId shard) {
		TopicPartition partition = this.directory.partition(shard);
		if (partition == null) {
			throw new IllegalArgumentException("%s is no partition of a Kafka topic".formatted(shard));
		}
		return partition;
	}

	@Override
	public void check(NewRecord newRecord) {
		Objects.requireNonNull(newRecord, "newRecord must not be null");
		this.appender.check(newRecord);
	}

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		Objects.requireNonNull(records, "records must not be null");
		return this.appender.append(records);
	}

	@Override
	public void refresh(String topic, boolean mayWait) {
		Objects.requireNonNull(topic, "topic must not be null");
		TopicShards known = this.directory.known().get(topic);
		if (known == null) {
			return;
		}
		if (this.directory.isPattern(topic)) {
			throw new ShardkeeperConfigurationException(
					"The topic '%s' reads all Kafka topics that match a pattern, so nothing can be sent to it."
						.formatted(topic),
					"Send to a topic with 'shardkeeper.kafka.topics.<topic>.name'.");
		}
		if (known.size() > 0) {
			this.directory.refreshIfDue();
			return;
		}
		if (mayWait) {
			this.directory.awaitRefreshUnlessFailing();
		}
		if (this.directory.known().getOrDefault(topic, TopicShards.NONE).size() == 0) {
			throw new SendFailedException("Not sent: the partitions of '%s' are not known. %s".formatted(topic,
					this.directory.problems().getOrDefault(topic, "Kafka has not answered yet")), null, false);
		}
	}

	@Override
	public int shards(String topic) {
		requireKnown(topic);
		this.directory.awaitRefresh();
		RuntimeException failure = this.directory.failure();
		if (failure != null) {
			throw failure;
		}
		return this.directory.known().getOrDefault(topic, TopicShards.NONE).size();
	}

	/** Adds partitions to the Kafka topic. */
	@Override
	public int raise(String topic, int shards) {
		KafkaTopic mapping = requireKnown(topic);
		TopicShards.requirePossible(topic, shards);
		String name = mapping.name();
		if (name == null) {
			throw new IllegalArgumentException(
					"The topic '%s' reads all Kafka topics that match a pattern; add partitions with Kafka's own tools"
						.formatted(topic));
		}
		int now = shards(topic);
		if (now > shards) {
			throw new IllegalArgumentException(
					"The topic '%s' has %d shards already, and cannot have fewer".formatted(topic, now));
		}
		if (now < shards) {
			this.admin.await(this.admin.client()
				.createPartitions(Map.of(name, NewPartitions.increaseTo(shards)),
						KafkaAdmin.limited(new CreatePartitionsOptions()))
				.all(), "cannot add partitions to the topic '%s'".formatted(name));
			this.directory.awaitPartitions(name, shards);
		}
		return shards;
	}

	private KafkaTopic requireKnown(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		KafkaTopic mapping = this.settings.topics().get(topic);
		if (mapping == null) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic,
					new TreeSet<>(this.settings.topics().keySet()));
		}
		return mapping;
	}

	@Override
	public void close() {
		// Before a refresh that is under way is interrupted, which is a failure, too.
		boolean replies = this.directory.failure() == null;
		this.executor.shutdownNow();
		this.appender.close();
		GroupMirror group = this.mirror;
		if (group != null && replies) {
			group.sendNow();
		}
		this.admin.close();
	}

}
