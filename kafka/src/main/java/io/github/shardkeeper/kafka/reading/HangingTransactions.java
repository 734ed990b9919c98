package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.clients.admin.DescribeProducersOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.kafka.client.OffsetLookup;
import io.github.shardkeeper.kafka.client.OffsetLookup.Ends;
import io.github.shardkeeper.text.DurationText;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Transactions that keep the last stable offset of a partition from moving for too long
 * although there are records after it. A consumer that reads committed records does not
 * tell: it waits, without lag. Brokers are asked for both ends of the partitions, and
 * nobody waits for their replies. Calls of {@link #check} are confined to one thread; the
 * problems are thread-safe.
 */
public final class HangingTransactions {

	private static final Logger logger = PrintableLogger.of(HangingTransactions.class);

	private final OffsetLookup offsets;

	private final KafkaAdmin admin;

	private final Duration limit;

	private final Duration interval;

	/** Partitions with records after their last stable offset. */
	private final Map<TopicPartition, Standstill> standing = new ConcurrentHashMap<>();

	private final Map<TopicPartition, String> problems = new ConcurrentHashMap<>();

	private @Nullable MonotonicTime nextCheck;

	private CompletableFuture<?> asked = CompletableFuture.completedFuture(null);

	/** Number of partitions that were logged last. */
	private int logged;

	/**
	 * Creates it.
	 * @param limit the time for which the last stable offset may stand still
	 * @param interval the time between two questions
	 */
	public HangingTransactions(OffsetLookup offsets, KafkaAdmin admin, Duration limit, Duration interval) {
		this.offsets = offsets;
		this.admin = admin;
		this.limit = limit;
		this.interval = interval;
	}

	/** Returns whether to check now: not before the last question was answered. */
	boolean isDue(MonotonicTime now) {
		MonotonicTime next = this.nextCheck;
		return (next == null || !now.isBefore(next)) && this.asked.isDone();
	}

	/** Asks for the ends of the partitions that are read now, and forgets others. */
	void check(Collection<TopicPartition> partitions, MonotonicTime now) {
		this.nextCheck = now.plus(this.interval);
		this.standing.keySet().retainAll(partitions);
		this.problems.keySet().retainAll(partitions);
		log();
		List<CompletableFuture<?>> replies = new ArrayList<>();
		try {
			this.offsets.askEnds(partitions).forEach((partition, reply) -> replies.add(reply.handle((ends, failure) -> {
				// One that is not answered is asked for again.
				boolean hangs = ends != null && isHanging(partition, ends, now);
				return hangs ? explain(partition, ends.stable()) : CompletableFuture.completedFuture(null);
			}).thenCompose((explained) -> explained)));
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The ends of partitions are not known", ex);
		}
		this.asked = CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new));
	}

	/** Returns whether it has just turned out that a partition hangs. */
	boolean isHanging(TopicPartition partition, Ends ends, MonotonicTime now) {
		if (ends.stable() >= ends.end()) {
			moves(partition);
			return false;
		}
		Standstill before = this.standing.get(partition);
		if (before == null || before.stable() != ends.stable()) {
			moves(partition);
			this.standing.put(partition, new Standstill(ends.stable(), now));
			return false;
		}
		return before.since().until(now).compareTo(this.limit) > 0 && !this.problems.containsKey(partition);
	}

	private void moves(TopicPartition partition) {
		this.standing.remove(partition);
		this.problems.remove(partition);
	}

	/**
	 * Names the transaction if the application may see it: that helps to find its
	 * producer.
	 */
	private CompletableFuture<?> explain(TopicPartition partition, long stable) {
		return producer(partition)
			.thenCompose((producer) -> (producer != null) ? transaction(producer)
					: CompletableFuture.<@Nullable String>completedFuture(null))
			.handle((found, failure) -> {
				if (failure != null) {
					logger.debug("The transaction that holds up {} is not known", partition, failure);
				}
				this.problems.put(partition,
						text(partition, stable, (failure == null && found != null) ? found : "a transaction"));
				return null;
			});
	}

	/** Returns the id of the producer with the earliest open transaction. */
	private CompletableFuture<@Nullable Long> producer(TopicPartition partition) {
		return this.admin.client()
			.describeProducers(List.of(partition), KafkaAdmin.limited(new DescribeProducersOptions()))
			.partitionResult(partition)
			.thenApply((state) -> state.activeProducers()
				.stream()
				.filter((producer) -> producer.currentTransactionStartOffset().isPresent())
				.min(Comparator.comparing((producer) -> producer.currentTransactionStartOffset().getAsLong()))
				.map(ProducerState::producerId)
				.orElse(null))
			.toCompletionStage()
			.toCompletableFuture();
	}

	private CompletableFuture<@Nullable String> transaction(long producer) {
		return this.admin.client()
			.listTransactions(KafkaAdmin.limited(new ListTransactionsOptions()).filterProducerIds(Set.of(producer)))
			.all()
			.thenApply((listed) -> listed.stream()
				.findFirst()
				.map((transaction) -> "the transaction of '%s'".formatted(transaction.transactionalId()))
				.orElse("a transaction of the producer " + producer))
			.toCompletionStage()
			.toCompletableFuture();
	}

	private String text(TopicPartition partition, long stable, String transaction) {
		return ("The Kafka partition %s is not read from offset %d on: %s has been open there for more than %s, and with "
				+ "'isolation.level=read_committed' all records after its first one wait for its end. Have its producer end it, or "
				+ "run 'kafka-transactions.sh abort --topic %s --partition %d --start-offset %2$d'. If transactions may "
				+ "take that long, raise 'shardkeeper.kafka.long-transaction'")
			.formatted(partition, stable, transaction, DurationText.of(this.limit), partition.topic(),
					partition.partition());
	}

	/** One line for all partitions: a transaction may have records in many. */
	private void log() {
		Map<TopicPartition, String> found = new TreeMap<>(
				Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition));
		found.putAll(this.problems);
		if (found.size() > this.logged) {
			logger.warn("Open transactions hold up {} partitions. {}", found.size(), found.values().iterator().next());
		}
		else if (found.isEmpty() && this.logged > 0) {
			logger.info("No open transaction holds up a partition any more");
		}
		this.logged = found.size();
	}

	/** Returns why a partition is not read to its end, {@code null} if it is. */
	@Nullable String problem(TopicPartition partition) {
		return this.problems.get(partition);
	}

	/** A last stable offset before the end, and since when it is known. */
	private record Standstill(long stable, MonotonicTime since) {

	}

}
