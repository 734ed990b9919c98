package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.KafkaClientListener;
import io.github.shardkeeper.kafka.client.KafkaFailure;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.kafka.reading.ReadPosition.Verification;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The consumer, and the positions of the partitions that it reads. Partitions that cannot
 * be read now are not assigned to it, so that they delay no others. Confined to the
 * polling thread.
 */
final class PartitionConsumer {

	private static final Logger logger = PrintableLogger.of(PartitionConsumer.class);

	private static final Duration WAIT = Duration.ofSeconds(1);

	private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(500);

	/** Creates a consumer, which calls its argument when it has new metadata. */
	private final Function<Runnable, Consumer<String, byte[]>> consumers;

	private final KafkaClientListener listener;

	private final TopicDirectory directory;

	private final KafkaFailure failures;

	private final ConsumerCommands commands;

	private final Duration gapInterval;

	private final MonotonicClock clock;

	private final ConsumerWarmUp warmUp;

	private final CheckpointVerification verification;

	private final PositionReset resets;

	private final ReadFailures readFailures;

	private final VanishedTopics vanished = new VanishedTopics();

	private final FetchReplies replies;

	private final PartitionHealth health;

	private @Nullable Consumer<String, byte[]> consumer;

	private final Map<TopicPartition, ReadPosition> positions = new HashMap<>();

	private boolean rearrange;

	/** Whether records have been fetched, or were tried to. */
	private boolean warm;

	private @Nullable MonotonicTime nextRetry;

	private int assigned;

	private int paused;

	private MonotonicTime nextGapCheck;

	PartitionConsumer(Function<Runnable, Consumer<String, byte[]>> consumers, KafkaClientListener listener,
			OffsetLookup offsets, TopicDirectory directory, KafkaFailure failures, ConsumerCommands commands,
			PartitionHealth health, Duration gapInterval, MonotonicClock clock) {
		this.consumers = consumers;
		this.listener = listener;
		this.directory = directory;
		this.failures = failures;
		this.commands = commands;
		this.health = health;
		this.gapInterval = gapInterval;
		this.clock = clock;
		this.warmUp = new ConsumerWarmUp(offsets, directory, commands, clock);
		this.verification = new CheckpointVerification(offsets, failures, commands, this::rearrange, clock);
		this.resets = new PositionReset(offsets, directory);
		this.readFailures = new ReadFailures(failures);
		MonotonicTime now = clock.now();
		this.replies = new FetchReplies(now);
		this.nextGapCheck = now.plus(gapInterval);
	}

	/** Assigns again, in the next poll, the partitions that can be read. */
	void rearrange() {
		this.rearrange = true;
	}

	void begin(ReadPosition position) {
		ReadPosition earlier = this.positions.put(position.partition(), position);
		if (earlier != null && earlier.isAssigned()) {
			// Its records are still in the consumer: a seek drops them.
			earlier.setAssigned(false);
		}
		if (!isListed(position.partition())) {
			this.directory.requestRefresh();
		}
		this.rearrange = true;
	}

	void end(ReadPosition position) {
		if (this.positions.remove(position.partition(), position)) {
			this.rearrange = true;
		}
	}

	void resume(ReadPosition position) {
		Consumer<String, byte[]> current = this.consumer;
		if (this.positions.get(position.partition()) == position && position.resume() && position.isAssigned()
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
	 * Carries out the commands, and delivers what is read; returns whether a broker has
	 * answered.
	 */
	boolean poll() throws InterruptedException {
		Consumer<String, byte[]> current = open();
		this.commands.carryOut();
		if (!this.warm) {
			this.warm = !this.positions.isEmpty() || this.warmUp.perform(current);
			this.rearrange |= this.warm;
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
			this.replies.noneExpected(now);
			this.commands.await(waitTime(now));
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
			this.replies.opened(current.metrics(), this.clock.now());
			this.health.opened(current.metrics());
			this.vanished.opened();
			this.positions.values().forEach((position) -> position.setAssigned(false));
			this.rearrange = true;
		}
		return current;
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
		for (ReadPosition position : this.positions.values()) {
			// Asked first: what is read next is then at least as new.
			boolean awaited = position.hasAwaitedTopic() && this.directory.failure() == null;
			Described described = this.directory.described(position.partition().topic());
			boolean listed = described != null && position.partition().partition() < described.partitions();
			// Listed first: what cannot be tried again keeps its problem.
			if (listed && described != null && position.isDue(now) && isDecided(position, described, awaited)) {
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
				MonotonicTime retryAt = position.retryAt();
				if (retryAt != null && now.isBefore(retryAt)) {
					earliest = MonotonicTime.earliestOf(earliest, retryAt);
				}
			}
		}
		this.nextRetry = earliest;
		this.verification.begin(unverified);
		Set<TopicPartition> partitions = new HashSet<>();
		readable.forEach((position) -> partitions.add(position.partition()));
		current.assign(partitions);
		added.forEach((position) -> seek(current, position));
		this.assigned = readable.size();
		this.paused = (int) readable.stream().filter(ReadPosition::isPaused).count();
		invalid.forEach((position, described) -> reset(current, position, described, now));
		if (this.assigned == 0) {
			this.replies.noneExpected(now);
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
			refresh.thenRun(() -> this.commands.execute(this::rearrange));
		}
		return false;
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
		this.vanished.metadataChanged();
		this.commands.wakeUp();
	}

	private Duration waitTime(MonotonicTime now) {
		MonotonicTime retry = this.nextRetry;
		Duration until = (retry != null) ? now.until(retry) : WAIT;
		return (until.compareTo(WAIT) < 0) ? (until.isNegative() ? Duration.ZERO : until) : WAIT;
	}

	/** Fails the poll if shards cannot be read because nothing is known of Kafka. */
	private void requireDirectory() {
		StoreUnavailableException failure = this.directory.failure();
		if (failure != null && !this.positions.isEmpty() && !this.commands.areDue()) {
			throw new StoreUnavailableException(String.valueOf(failure.getMessage()), failure, failure.isRefusal());
		}
	}

	private boolean read(Consumer<String, byte[]> current, MonotonicTime now) throws InterruptedException {
		boolean woken = false;
		ConsumerRecords<String, byte[]> records;
		try {
			leaveVanished(current);
			records = this.commands.poll(current, waitTime(now));
		}
		catch (WakeupException ex) {
			// New metadata may come several times per second, so what is checked below
			// is checked nevertheless.
			woken = true;
			records = ConsumerRecords.empty();
		}
		catch (InterruptException ex) {
			Thread.interrupted();
			throw new InterruptedException();
		}
		catch (RuntimeException ex) {
			if (this.readFailures.exclude(ex, this.positions.values(), this.clock.now())) {
				this.rearrange = true;
				return true;
			}
			if (!(ex instanceof KafkaException)) {
				// Its state is unknown.
				close();
			}
			throw this.failures.unavailable("cannot read records", ex);
		}
		deliver(current, records);
		MonotonicTime read = this.clock.now();
		if (!read.isBefore(this.nextGapCheck)) {
			this.nextGapCheck = read.plus(this.gapInterval);
			this.positions.values().forEach(ReadPosition::moveOverGap);
			this.positions.values()
				.stream()
				.filter((position) -> position.isAssigned() && position.mustTellEpoch())
				.forEach((position) -> seek(current, position));
		}
		this.health.check(current, this.positions.values(), read);
		boolean answered = isAnswered(!records.isEmpty());
		return answered && !woken;
	}

	/** Fails like a poll: the consumer throws what its new metadata says. */
	private void leaveVanished(Consumer<String, byte[]> current) {
		for (ReadPosition position : this.vanished.find(current, this.positions.values())) {
			// To the same place, and without a leader.
			seek(current, position);
			this.directory.requestRefresh();
		}
	}

	/** Offers the records of each partition; those that a sink refuses are read again. */
	private void deliver(Consumer<String, byte[]> current, ConsumerRecords<String, byte[]> records) {
		Throwable failure = null;
		Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>(records.nextOffsets());
		for (TopicPartition partition : records.partitions()) {
			ReadPosition position = this.positions.get(partition);
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
			ReadPosition position = this.positions.get(partition);
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

	/** Returns whether a broker has answered since the last call. */
	private boolean isAnswered(boolean hasRecords) {
		MonotonicTime now = this.clock.now();
		if (this.replies.isNew(hasRecords, now)) {
			return true;
		}
		if (this.paused >= this.assigned) {
			this.replies.noneExpected(now);
			return false;
		}
		Duration limit = this.health.silenceLimit();
		if (this.replies.isSilent(limit, now)) {
			if (this.replies.isUnconnected()) {
				// It waits for a bootstrap server that hangs, until its request times
				// out after 30 s. A new one chooses again, at random.
				close();
			}
			throw this.failures.unavailable("no reply to a fetch for more than %d s".formatted(limit.toSeconds()),
					new java.util.concurrent.TimeoutException("no broker of these partitions can be reached"));
		}
		return false;
	}

	private void reset(Consumer<String, byte[]> current, ReadPosition position, Described described,
			MonotonicTime now) {
		try {
			if (this.resets.apply(position, described)) {
				seek(current, position);
			}
			else {
				this.rearrange = true;
			}
		}
		catch (StoreUnavailableException ex) {
			ReadFailures.retryLater(position, "%s at offset %d; %s".formatted(
					PositionReset.invalidity(position, described).reason(), position.next(), ex.getMessage()), now);
			this.rearrange = true;
		}
	}

	/** Closes the consumer; another thread only while no poll is under way. */
	void close() {
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
