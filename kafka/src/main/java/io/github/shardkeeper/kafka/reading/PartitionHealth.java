package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.Throttling;
import io.github.shardkeeper.kafka.client.TopicDirectory;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Finds out why partitions are not read although the consumer reports no failure: they do
 * not exist, have no leader or one that does not reply, clients are throttled, or a
 * transaction hangs. Confined to the polling thread, except {@link #problem}.
 */
final class PartitionHealth {

	private final TopicDirectory directory;

	private final Throttling throttling;

	private final Duration silenceLimit;

	private final BrokerReplies brokers;

	/** {@code null} if records are read before the end of their transactions. */
	private final @Nullable HangingTransactions transactions;

	/**
	 * Creates it.
	 * @param silenceLimit the time after which a broker should have answered
	 * @param transactions the open transactions; {@code null} if nobody waits for them
	 */
	PartitionHealth(TopicDirectory directory, Throttling throttling, Duration silenceLimit,
			@Nullable HangingTransactions transactions, MonotonicTime now) {
		this.directory = directory;
		this.throttling = throttling;
		this.silenceLimit = silenceLimit;
		this.brokers = new BrokerReplies(silenceLimit, now);
		this.transactions = transactions;
	}

	/** Begins with a new consumer. */
	void opened(Map<MetricName, ? extends Metric> metrics) {
		this.throttling.opened(metrics);
	}

	/** Checks what is due; does not wait. */
	void check(Consumer<String, byte[]> consumer, Collection<ReadPosition> positions, MonotonicTime now) {
		this.throttling.check(now);
		if (this.brokers.isDue(now)) {
			this.brokers.check(awaitedLeaders(positions), consumer.metrics(), this.throttling.longest(), now);
		}
		if (this.transactions != null && this.transactions.isDue(now)) {
			this.transactions.check(consumer.assignment(), now);
		}
	}

	/**
	 * Returns the time after which a fetch should have been answered, although brokers
	 * let the consumer wait because of a quota.
	 */
	Duration silenceLimit() {
		return this.silenceLimit.plus(this.throttling.longest());
	}

	private Map<TopicPartition, Integer> awaitedLeaders(Collection<ReadPosition> positions) {
		Map<TopicPartition, Integer> leaders = new HashMap<>();
		for (ReadPosition position : positions) {
			Described described = this.directory.described(position.partition().topic());
			Integer leader = (described != null) ? described.leaders().get(position.partition().partition()) : null;
			if (leader != null && position.isAssigned() && !position.isPaused()) {
				leaders.put(position.partition(), leader);
			}
		}
		return leaders;
	}

	/**
	 * Returns why the partition of a position is not read, {@code null} if it is or if
	 * that is not known. Thread-safe.
	 */
	@Nullable String problem(ReadPosition position) {
		TopicPartition partition = position.partition();
		Described described = this.directory.described(partition.topic());
		boolean isNews = this.directory.number() > position.directoryNumber();
		if (described == null) {
			String refusal = this.directory.refusal(partition.topic());
			return (refusal == null && this.directory.failure() == null && isNews)
					? "The Kafka topic '%s' cannot be found: it was deleted, or its user may not DESCRIBE it"
						.formatted(partition.topic())
					: refusal;
		}
		if (partition.partition() >= described.partitions()) {
			return isNews ? "The Kafka topic '%s' has %d partitions, and none with the number %d"
				.formatted(partition.topic(), described.partitions(), partition.partition()) : null;
		}
		Integer leader = described.leaders().get(partition.partition());
		if (leader == null) {
			return "The Kafka partition %s has no leader: check the brokers".formatted(partition);
		}
		Integer silent = this.brokers.silentBroker(partition);
		if (silent == null) {
			return (this.transactions != null) ? this.transactions.problem(partition) : null;
		}
		return "The %s of the Kafka partition %s, broker %d, does not reply: check it and the network to it"
			.formatted(silent.equals(leader) ? "leader" : "follower", partition, silent);
	}

}
