package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.Predicate;

import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.ReadPosition.Invalidity;
import io.github.shardkeeper.kafka.ReadPosition.Verification;
import io.github.shardkeeper.kafka.TopicDirectory.Described;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reads all shards with one consumer, to which partitions are assigned without a group.
 * The consumer is confined to the polling thread: other threads queue commands, and wake
 * it if it waits. Partitions that cannot be read now are not assigned, so that they delay
 * no others.
 */
final class KafkaShardReader implements ShardReader {

	private static final Logger logger = PrintableLogger.of(KafkaShardReader.class);

	private static final Duration WAIT = Duration.ofSeconds(1);

	/** Time for an answer to a fetch, beyond that for which brokers hold it back. */
	private static final Duration SILENCE = Duration.ofSeconds(5);

	private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(500);

	/** Longest time for the first records, which are not delivered. */
	private static final Duration WARM_UP = Duration.ofMillis(300);

	private static final Duration WARM_UP_STEP = Duration.ofMillis(20);

	/** Creates a consumer, which calls its argument when it has new metadata. */
	private final Function<Runnable, Consumer<String, byte[]>> consumers;

	private final KafkaClientListener listener;

	private final OffsetLookup offsets;

	private final TopicDirectory directory;

	private final KafkaFailure failures;

	private final @Nullable GroupMirror mirror;

	private final Duration silenceLimit;

	private final Duration gapInterval;

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	private final Watch watch;

	/** Shards that are started and not stopped. */
	private final Map<ShardId, ReadPosition> positions = new ConcurrentHashMap<>();

	/** Shards whose ids name no partition, or whose offsets are of another source. */
	private final Map<ShardId, String> unreadable = new ConcurrentHashMap<>();

	/** Carried out by the polling thread, in their order. */
	private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();

	private final Object wakeLock = new Object();

	/** Consumer that waits and that nobody has woken; guarded by the wake lock. */
	private @Nullable Consumer<String, byte[]> waiting;

	/** Guarded by the wake lock, like the next field. */
	private boolean polling;

	private boolean closed;

	/** Confined to the polling thread, like all following fields. */
	private @Nullable Consumer<String, byte[]> consumer;

	private final Map<TopicPartition, ReadPosition> byPartition = new HashMap<>();

	private boolean rearrange;

	/** Whether records have been fetched, or were tried to. */
	private boolean warm;

	private @Nullable MonotonicTime nextRetry;

	private boolean newMetadata;

	/** Topics that the metadata of the consumer had when they were last looked at. */
	private final Set<String> found = new HashSet<>();

	private int assigned;

	private int paused;

	private ClientMetric fetches = ClientMetric.NONE;

	/** The number of bytes that the consumer has received. */
	private ClientMetric received = ClientMetric.NONE;

	private double lastFetches;

	private MonotonicTime silentSince;

	private MonotonicTime nextGapCheck;

	private final BrokerAnswers brokers;

	private final Throttling throttling;

	/** {@code null} if records are read before the end of their transactions. */
	private final @Nullable HangingTransactions transactions;

	KafkaShardReader(Function<Runnable, Consumer<String, byte[]>> consumers, KafkaClientListener listener,
			OffsetLookup offsets, TopicDirectory directory, KafkaFailure failures, @Nullable GroupMirror mirror,
			Throttling throttling, @Nullable HangingTransactions transactions, Duration fetchWait,
			Duration gapInterval) {
		this.consumers = consumers;
		this.listener = listener;
		this.throttling = throttling;
		this.transactions = transactions;
		this.offsets = offsets;
		this.directory = directory;
		this.failures = failures;
		this.mirror = mirror;
		this.silenceLimit = SILENCE.plus(fetchWait);
		this.gapInterval = gapInterval;
		this.silentSince = this.clock.now();
		this.nextGapCheck = this.silentSince.plus(gapInterval);
		this.brokers = new BrokerAnswers(this.silenceLimit, this.silentSince);
		this.watch = directory.watch(() -> execute(() -> this.rearrange = true));
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
		execute(() -> begin(position));
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
			execute(() -> end(position));
		}
	}

	@Override
	public void resume(ShardId shard) {
		ReadPosition position = this.positions.get(shard);
		if (position != null) {
			execute(() -> resume(position));
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

	private void execute(Runnable command) {
		this.commands.add(command);
		wakeUp();
	}

	/** At most one wake-up per wait, so that none is left for a later call. */
	private void wakeUp() {
		synchronized (this.wakeLock) {
			Consumer<String, byte[]> woken = this.waiting;
			this.waiting = null;
			if (woken != null) {
				woken.wakeup();
			}
			this.wakeLock.notifyAll();
		}
	}

	@Override
	public boolean poll() throws InterruptedException {
		synchronized (this.wakeLock) {
			if (this.closed) {
				return false;
			}
			this.polling = true;
		}
		try {
			return pollOnce();
		}
		finally {
			boolean close;
			synchronized (this.wakeLock) {
				this.polling = false;
				close = this.closed;
			}
			if (close) {
				closeConsumer();
			}
		}
	}

	private boolean pollOnce() throws InterruptedException {
		Consumer<String, byte[]> current = open();
		for (Runnable command = this.commands.poll(); command != null; command = this.commands.poll()) {
			command.run();
		}
		if (!this.warm) {
			this.warm = !this.byPartition.isEmpty() || warmUp(current);
		}
		MonotonicTime retry = this.nextRetry;
		MonotonicTime now = this.clock.now();
		if (this.rearrange || retry != null && !now.isBefore(retry)) {
			arrange(current, now);
		}
		if (this.rearrange) {
			// A reset that failed or stopped a shard: it must not be read meanwhile.
			arrange(current, now);
		}
		if (this.assigned == 0) {
			this.silentSince = now;
			awaitCommand(now);
			requireDirectory();
			return false;
		}
		return read(current, now);
	}

	private Consumer<String, byte[]> open() {
		Consumer<String, byte[]> current = this.consumer;
		if (current == null) {
			try {
				current = this.consumers.apply(this::metadataChanged);
			}
			catch (KafkaException ex) {
				throw this.failures.unavailable("cannot create a consumer", ex);
			}
			this.consumer = current;
			this.listener.opened(current);
			this.fetches = ClientMetric.of(current.metrics(), "fetch-total", "topic");
			this.lastFetches = 0;
			this.received = ClientMetric.of(current.metrics(), "incoming-byte-total", "node-id");
			this.throttling.opened(current.metrics());
			this.silentSince = this.clock.now();
			this.found.clear();
			this.byPartition.values().forEach((position) -> position.setAssigned(false));
			this.rearrange = true;
		}
		return current;
	}

	/**
	 * Fetches the last record of a partition of each broker before the first shard is
	 * assigned, which would otherwise wait until brokers are connected and classes are
	 * loaded. Delivers nothing. A failure has no consequences. Returns whether there was
	 * a broker to fetch from.
	 */
	private boolean warmUp(Consumer<String, byte[]> current) {
		Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
		this.directory.onePartitionPerLeader().forEach((partition) -> latest.put(partition, OffsetSpec.latest()));
		if (latest.isEmpty()) {
			return false;
		}
		try {
			Map<TopicPartition, Long> ends = this.offsets.ask(latest);
			current.assign(ends.keySet());
			ends.forEach((partition, end) -> current.seek(partition, Math.max(0, end - 1)));
			MonotonicTime until = this.clock.now().plus(WARM_UP);
			while (this.commands.isEmpty() && this.clock.now().isBefore(until)
					&& current.poll(WARM_UP_STEP).isEmpty()) {
				logger.trace("No record yet");
			}
		}
		catch (StoreUnavailableException | KafkaException ex) {
			logger.debug("Nothing was fetched before the first shard is assigned", ex);
		}
		current.assign(Set.of());
		this.rearrange = true;
		return true;
	}

	private void begin(ReadPosition position) {
		ReadPosition earlier = this.byPartition.put(position.partition(), position);
		if (earlier != null && earlier.isAssigned()) {
			// Its records are still in the consumer: a seek drops them.
			earlier.setAssigned(false);
		}
		if (!isListed(position.partition())) {
			this.directory.requestRefresh();
		}
		this.rearrange = true;
	}

	private void end(ReadPosition position) {
		if (this.byPartition.remove(position.partition(), position)) {
			this.rearrange = true;
		}
	}

	private void resume(ReadPosition position) {
		Consumer<String, byte[]> current = this.consumer;
		if (this.byPartition.get(position.partition()) == position && position.resume() && position.isAssigned()
				&& current != null) {
			current.resume(Set.of(position.partition()));
			this.paused--;
		}
	}

	private boolean isListed(TopicPartition partition) {
		Described described = this.directory.described(partition.topic());
		return described != null && partition.partition() < described.partitions();
	}

	/**
	 * Assigns the partitions that can be read, and moves to the positions of new ones.
	 */
	private void arrange(Consumer<String, byte[]> current, MonotonicTime now) {
		this.rearrange = false;
		List<ReadPosition> readable = new ArrayList<>();
		List<ReadPosition> added = new ArrayList<>();
		List<ReadPosition> unverified = new ArrayList<>();
		Map<ReadPosition, Described> invalid = new LinkedHashMap<>();
		MonotonicTime earliest = null;
		for (ReadPosition position : this.byPartition.values()) {
			// Asked first: what is read next is then at least as new.
			boolean awaited = position.hasAwaitedTopic() && this.directory.failure() == null;
			Described described = this.directory.described(position.partition().topic());
			boolean listed = described != null && position.partition().partition() < described.partitions();
			if (position.isDue(now) && listed && described != null && isDecided(position, described, awaited)) {
				if (position.invalidity() != null || position.isOfAnotherTopic(described.id())) {
					readable.add(position);
					invalid.put(position, described);
					continue;
				}
				position.setTopicId(described.id());
				if (position.verification() != Verification.DONE) {
					unverified.add(position);
					continue;
				}
				readable.add(position);
				if (!position.isAssigned()) {
					added.add(position);
				}
			}
			else {
				position.setAssigned(false);
				earliest = MonotonicTime.earliestOf(earliest, position.retryAt());
			}
		}
		this.nextRetry = earliest;
		verify(unverified);
		Set<TopicPartition> partitions = new HashSet<>();
		readable.forEach((position) -> partitions.add(position.partition()));
		current.assign(partitions);
		added.forEach((position) -> seek(current, position));
		this.assigned = readable.size();
		this.paused = (int) readable.stream().filter(ReadPosition::isPaused).count();
		invalid.forEach((position, described) -> reset(current, position, described, now));
		if (this.assigned == 0) {
			this.silentSince = now;
		}
	}

	/**
	 * Returns whether it is known if the position is one of the topic that there is now.
	 * If it seems to be of another one, or is not in the partition, what is known of the
	 * topic may be too old for a checkpoint: Kafka is asked once more before a reset.
	 */
	private boolean isDecided(ReadPosition position, Described described, boolean awaited) {
		boolean anotherTopic = position.isOfAnotherTopic(described.id());
		if (awaited || !anotherTopic && (position.invalidity() == null || position.isAtBeginning())) {
			return true;
		}
		// If that fails, the directory notifies its listeners once it succeeds again.
		if (!position.isAwaitingTopic()) {
			CompletableFuture<Void> refresh = this.directory.requestRefresh();
			position.awaitTopic(refresh);
			refresh.thenRun(() -> execute(() -> this.rearrange = true));
		}
		return false;
	}

	/** Compares new positions with the ends of their logs; does not wait. */
	private void verify(List<ReadPosition> unverified) {
		Map<TopicPartition, ReadPosition> asked = new HashMap<>();
		for (ReadPosition position : unverified) {
			if (position.verification() == Verification.WANTED) {
				position.verify();
				asked.put(position.partition(), position);
			}
		}
		if (asked.isEmpty()) {
			return;
		}
		try {
			this.offsets.ends(asked.keySet()).forEach((partition, end) -> {
				ReadPosition position = asked.get(partition);
				if (position != null) {
					end.whenComplete((found, failure) -> execute(() -> verified(position, found, failure)));
				}
			});
		}
		catch (StoreUnavailableException ex) {
			asked.values().forEach((position) -> verified(position, null, ex));
		}
	}

	private void verified(ReadPosition position, @Nullable ListOffsetsResultInfo end, @Nullable Throwable failure) {
		if (end != null) {
			position.verified(end);
		}
		else {
			String reason = "The end of the Kafka partition %s cannot be found; retrying. Kafka: %s"
				.formatted(position.partition(), (failure != null) ? this.failures.message(failure) : "");
			if (position.notVerified(reason, this.clock.now())) {
				logger.warn("{} is not read yet. {}", position.shard(), reason);
			}
		}
		this.rearrange = true;
	}

	private static void seek(Consumer<String, byte[]> current, ReadPosition position) {
		Set<TopicPartition> partition = Set.of(position.partition());
		position.setAssigned(true);
		// Also to 0, for the beginning: asking for it waits for the fetch under way,
		// twice. If it is told the epoch, the client asks the leader where that has
		// ended.
		current.seek(position.partition(), position.resumeAt());
		if (position.isPaused()) {
			current.pause(partition);
		}
		else {
			current.resume(partition);
		}
	}

	/** Ends a poll: within it the consumer does not stop to ask for what is not there. */
	private void metadataChanged() {
		this.newMetadata = true;
		wakeUp();
	}

	/**
	 * Has the consumer ask nobody for partitions of topics that its metadata has not any
	 * more, until it has them again. It would ask the last leader at full speed, and log
	 * a line for each partition each time.
	 */
	private void leaveVanishedTopics(Consumer<String, byte[]> current) {
		this.newMetadata = false;
		Set<String> now = new HashSet<>();
		for (ReadPosition position : this.byPartition.values()) {
			String topic = position.partition().topic();
			if (position.isAssigned() && (now.contains(topic) || isKnown(current, topic))) {
				now.add(topic);
			}
			else if (position.isAssigned() && this.found.contains(topic)) {
				// To the same place, and without a leader.
				seek(current, position);
				this.directory.requestRefresh();
			}
		}
		this.found.clear();
		this.found.addAll(now);
	}

	private static boolean isKnown(Consumer<String, byte[]> current, String topic) {
		try {
			return !current.partitionsFor(topic, Duration.ZERO).isEmpty();
		}
		catch (TimeoutException ex) {
			// It is not in the metadata, and others would have to be asked.
			return false;
		}
	}

	private void awaitCommand(MonotonicTime now) throws InterruptedException {
		synchronized (this.wakeLock) {
			if (this.commands.isEmpty() && !this.closed) {
				this.wakeLock.wait(Math.max(1, waitTime(now).toMillis()));
			}
		}
	}

	private Duration waitTime(MonotonicTime now) {
		MonotonicTime retry = this.nextRetry;
		Duration until = (retry != null) ? now.until(retry) : WAIT;
		return (until.compareTo(WAIT) < 0) ? (until.isNegative() ? Duration.ZERO : until) : WAIT;
	}

	/** Fails the poll if shards cannot be read because nothing is known of Kafka. */
	private void requireDirectory() {
		StoreUnavailableException failure = this.directory.failure();
		if (failure != null && !this.byPartition.isEmpty() && this.commands.isEmpty()) {
			throw new StoreUnavailableException(String.valueOf(failure.getMessage()), failure, failure.isRefusal());
		}
	}

	private boolean read(Consumer<String, byte[]> current, MonotonicTime now) throws InterruptedException {
		boolean waits;
		boolean woken = false;
		if (this.newMetadata) {
			leaveVanishedTopics(current);
		}
		synchronized (this.wakeLock) {
			waits = this.commands.isEmpty() && !this.closed;
			this.waiting = waits ? current : null;
		}
		ConsumerRecords<String, byte[]> records;
		try {
			records = current.poll(waits ? waitTime(now) : Duration.ZERO);
		}
		catch (WakeupException ex) {
			// If it comes too late for one poll, it ends the next one: no other call of
			// this consumer waits. New metadata may come several times per second, so
			// what is checked below is checked nevertheless.
			woken = true;
			records = ConsumerRecords.empty();
		}
		catch (InterruptException ex) {
			Thread.interrupted();
			throw new InterruptedException();
		}
		catch (RuntimeException ex) {
			return failed(current, ex);
		}
		finally {
			synchronized (this.wakeLock) {
				this.waiting = null;
			}
		}
		deliver(current, records);
		MonotonicTime read = this.clock.now();
		if (!read.isBefore(this.nextGapCheck)) {
			this.nextGapCheck = read.plus(this.gapInterval);
			this.byPartition.values().forEach(ReadPosition::moveOverGap);
			this.byPartition.values()
				.stream()
				.filter((position) -> position.isAssigned() && position.mustTellEpoch())
				.forEach((position) -> seek(current, position));
		}
		this.throttling.check(read);
		if (this.brokers.isDue(read)) {
			this.brokers.check(awaitedLeaders(), current.metrics(), this.throttling.longest(), read);
		}
		if (this.transactions != null && this.transactions.isDue(read)) {
			this.transactions.check(current.assignment(), read);
		}
		boolean answered = isAnswered(!records.isEmpty());
		return answered && !woken;
	}

	private Map<TopicPartition, Integer> awaitedLeaders() {
		Map<TopicPartition, Integer> leaders = new HashMap<>();
		for (ReadPosition position : this.byPartition.values()) {
			Described described = this.directory.described(position.partition().topic());
			Integer leader = (described != null) ? described.leaders().get(position.partition().partition()) : null;
			if (leader != null && position.isAssigned() && !position.isPaused()) {
				leaders.put(position.partition(), leader);
			}
		}
		return leaders;
	}

	/** Offers the records of each partition; those that a sink refuses are read again. */
	private void deliver(Consumer<String, byte[]> current, ConsumerRecords<String, byte[]> records) {
		Throwable failure = null;
		Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>(records.nextOffsets());
		for (TopicPartition partition : records.partitions()) {
			ReadPosition position = this.byPartition.get(partition);
			if (position == null) {
				continue;
			}
			try {
				position.offer(records.records(partition));
				if (position.isPaused()) {
					current.pause(Set.of(partition));
					this.paused++;
				}
			}
			catch (RuntimeException | Error ex) {
				// The records of the others are lost if this one ends the loop.
				current.seek(partition, position.resumeAt());
				read.remove(partition);
				failure = ex;
			}
		}
		// Also of partitions with nothing but markers of transactions.
		read.forEach((partition, next) -> {
			ReadPosition position = this.byPartition.get(partition);
			if (position != null) {
				position.skipTo(next);
			}
		});
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException exception) {
			throw exception;
		}
	}

	/**
	 * Returns whether a broker has answered since the last call. Consumers do not tell:
	 * they retry, and return nothing.
	 */
	private boolean isAnswered(boolean hasRecords) {
		// Without the metric each poll counts as answered.
		double count = this.fetches.value();
		boolean isNew = hasRecords || count != this.lastFetches;
		this.lastFetches = count;
		MonotonicTime now = this.clock.now();
		if (isNew || this.paused >= this.assigned) {
			this.silentSince = now;
			return isNew;
		}
		Duration silence = this.silentSince.until(now);
		Duration limit = this.silenceLimit.plus(this.throttling.longest());
		if (silence.compareTo(limit) > 0) {
			if (this.received.value() == 0) {
				// It waits for a bootstrap server that hangs, until its request times
				// out after 30 s. A new one chooses again, at random.
				closeConsumer();
			}
			throw this.failures.unavailable("no answer to a fetch for more than %d s".formatted(limit.toSeconds()),
					new java.util.concurrent.TimeoutException("no broker of these partitions can be reached"));
		}
		return false;
	}

	/** Excludes the partitions that have failed, or fails the poll if all have. */
	private boolean failed(Consumer<String, byte[]> current, RuntimeException failure) {
		MonotonicTime now = this.clock.now();
		if (failure instanceof InvalidOffsetException invalid) {
			invalid.partitions().forEach((partition) -> invalidate(partition, invalid));
			return true;
		}
		if (failure instanceof TopicAuthorizationException denied) {
			return retryLater(denied, denied.unauthorizedTopics(), now);
		}
		if (failure instanceof InvalidTopicException invalid) {
			return retryLater(invalid, invalid.invalidTopics(), now);
		}
		if (failure instanceof KafkaException && !(failure instanceof AuthenticationException)) {
			// For a batch that is damaged, among others, only the message has it.
			String message = " " + failure.getMessage() + " ";
			if (retryLater(failure,
					(partition) -> message.contains(" " + partition + " ") || message.contains(" " + partition + "."),
					now)) {
				return true;
			}
		}
		if (!(failure instanceof KafkaException)) {
			// Its state is unknown.
			closeConsumer();
		}
		throw this.failures.unavailable("cannot read records", failure);
	}

	private boolean retryLater(RuntimeException failure, Collection<String> topics, MonotonicTime now) {
		if (!retryLater(failure, (partition) -> topics.contains(partition.topic()), now)) {
			throw this.failures.unavailable("cannot read records", failure);
		}
		return true;
	}

	private boolean retryLater(RuntimeException failure, Predicate<TopicPartition> failed, MonotonicTime now) {
		String reason = "Kafka: " + this.failures.message(failure);
		boolean found = false;
		for (ReadPosition position : this.byPartition.values()) {
			if (position.isAssigned() && failed.test(position.partition())) {
				retryLater(position, reason, now);
				found = true;
			}
		}
		return found;
	}

	private void retryLater(ReadPosition position, String reason, MonotonicTime now) {
		if (position.retryLater(reason, now)) {
			logger.warn("{} cannot be read; retrying. {}", position.shard(), reason);
		}
		this.rearrange = true;
	}

	private void invalidate(TopicPartition partition, InvalidOffsetException failure) {
		ReadPosition position = this.byPartition.get(partition);
		if (position == null || !position.isAssigned()) {
			return;
		}
		OffsetAndMetadata divergence = (failure instanceof LogTruncationException truncated)
				? truncated.divergentOffsets().get(partition) : null;
		position.invalidate(new Invalidity((divergence != null) ? "the partition has lost records that were read"
				: "the offset is not in the partition", divergence));
		this.rearrange = true;
	}

	/** Applies the reset policy to a position that is not one of the topic as it is. */
	private void reset(Consumer<String, byte[]> current, ReadPosition position, Described described,
			MonotonicTime now) {
		TopicPartition partition = position.partition();
		ShardId shard = position.shard();
		boolean anotherTopic = position.isOfAnotherTopic(described.id());
		Invalidity invalidity = position.invalidity();
		String reason = (anotherTopic || invalidity == null)
				? "its Kafka topic was deleted and created again, or is that of another cluster (its id was %s, and is %s)"
					.formatted(position.topicId(), described.id())
				: invalidity.reason();
		OffsetAndMetadata divergence = (anotherTopic || invalidity == null) ? null : invalidity.divergence();
		long begin;
		long end;
		try {
			begin = this.offsets.beginning(partition);
			end = this.offsets.end(partition);
		}
		catch (StoreUnavailableException ex) {
			retryLater(position, "%s at offset %d; %s".formatted(reason, position.next(), ex.getMessage()), now);
			return;
		}
		if (position.isAtBeginning()) {
			position.setTopicId(described.id());
			if (anotherTopic) {
				// Records that were done ahead are others now.
				position.reset(new OffsetAndMetadata(begin), true);
			}
			else {
				position.begin(begin);
			}
			seek(current, position);
			return;
		}
		long wanted = position.next();
		String what = "%s was to be read from offset %d of the Kafka partition %s, which has the offsets from %d to before %d, but %s"
			.formatted(shard, wanted, partition, begin, end, reason);
		ResetPolicy policy = this.directory.reset(shard.topic());
		String setting = "'shardkeeper.topics.%s.reset: %s'".formatted(shard.topic(),
				policy.name().toLowerCase(Locale.ROOT));
		if (policy == ResetPolicy.STOP) {
			String halted = "%s. It is not read (%s). Set its position with ShardPositions".formatted(what, setting);
			logger.error(halted);
			position.halt(halted);
			this.rearrange = true;
			return;
		}
		OffsetAndMetadata resumed = (divergence != null && divergence.offset() >= begin) ? divergence
				: new OffsetAndMetadata((policy == ResetPolicy.LATEST) ? end : begin);
		logger.warn("{}. Reading resumes at offset {} ({}). {}", what, resumed.offset(), setting,
				loss(wanted, resumed.offset(), resumed == divergence));
		// Before the beginning there is only what the topic has removed itself.
		boolean removed = divergence == null && !anotherTopic && wanted < begin;
		position.setTopicId(described.id());
		position.reset(resumed, !removed);
		seek(current, position);
	}

	private static String loss(long wanted, long resumed, boolean diverged) {
		if (diverged) {
			return "Up to %d records that were handled are lost in Kafka; what handlers did with them stays, also in the state"
				.formatted(wanted - resumed);
		}
		return (resumed > wanted) ? "Up to %d records are lost".formatted(resumed - wanted)
				: "It is unknown how many records are lost";
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>(this.unreadable);
		this.positions.forEach((shard, position) -> {
			String own = position.problem();
			String problem = (own != null) ? own : problem(position);
			if (problem != null) {
				problems.put(shard, problem);
			}
		});
		return problems;
	}

	private @Nullable String problem(ReadPosition position) {
		TopicPartition partition = position.partition();
		Described described = this.directory.described(partition.topic());
		if (described == null) {
			String refusal = this.directory.refusal(partition.topic());
			boolean known = this.directory.failure() == null && this.directory.number() > position.directoryNumber();
			return (refusal == null && known)
					? "The Kafka topic '%s' cannot be found: it was deleted, or its user may not DESCRIBE it"
						.formatted(partition.topic())
					: refusal;
		}
		if (partition.partition() >= described.partitions()) {
			return (this.directory.number() > position.directoryNumber())
					? "The Kafka topic '%s' has %d partitions, and none with the number %d".formatted(partition.topic(),
							described.partitions(), partition.partition())
					: null;
		}
		Integer leader = described.leaders().get(partition.partition());
		if (leader == null) {
			return "The Kafka partition %s has no leader: check the brokers".formatted(partition);
		}
		Integer silent = this.brokers.silentBroker(partition);
		if (silent == null) {
			return (this.transactions != null) ? this.transactions.problem(partition) : null;
		}
		return "The %s of the Kafka partition %s, broker %d, does not answer: check it and the network to it"
			.formatted(silent.equals(leader) ? "leader" : "follower", partition, silent);
	}

	@Override
	public void close() {
		this.watch.close();
		this.positions.values().forEach(ReadPosition::stop);
		boolean idle;
		synchronized (this.wakeLock) {
			idle = !this.polling;
			this.closed = true;
		}
		wakeUp();
		if (idle) {
			closeConsumer();
		}
	}

	private void closeConsumer() {
		Consumer<String, byte[]> current = this.consumer;
		this.consumer = null;
		if (current == null) {
			return;
		}
		this.listener.closed(current);
		try {
			current.close(CloseOptions.timeout(CLOSE_TIMEOUT));
		}
		catch (KafkaException ex) {
			logger.debug("The consumer was not closed", ex);
		}
	}

}
