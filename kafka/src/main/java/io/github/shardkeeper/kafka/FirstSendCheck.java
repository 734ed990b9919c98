package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.kafka.client.KafkaAdmin;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Has the leader of a partition reply once before the first record is sent to it.
 * <p>
 * A broker announces a new partition a moment before it accepts records for it. If the
 * first two batches of a producer arrive around that moment, it refuses the first and
 * appends the second. Brokers before Kafka 4.5 then refuse the first one each time the
 * producer repeats it, until {@code delivery.timeout.ms} is over: its records are not in
 * the partition, and those after them are (KAFKA-15591).
 * <p>
 * A leader that does not reply soon is not waited for any longer, and only once: others
 * must not wait for it, and the producer says what is wrong. What is not covered is a
 * partition without records whose leader changes after its reply. Thread-safe.
 */
final class FirstSendCheck {

	private static final Logger logger = PrintableLogger.of(FirstSendCheck.class);

	private final Supplier<Admin> admin;

	private final Duration limit;

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	private final Map<TopicPartition, Question> questions = new ConcurrentHashMap<>();

	/**
	 * Creates it.
	 * @param admin the client, a {@code StoreUnavailableException} if there is none
	 * @param limit the time for which a leader is waited for
	 */
	FirstSendCheck(Supplier<Admin> admin, Duration limit) {
		this.admin = admin;
		this.limit = limit;
	}

	/**
	 * Waits for a reply of the leader if it has not answered yet. Asks those of the
	 * topic's other partitions, too, and does not wait for them.
	 */
	void await(TopicPartition partition, Described topic) {
		Question question = asked(partition, topic);
		if (question == null) {
			question = ask(partition, topic);
		}
		if (question == null || question.reply().isDone()) {
			return;
		}
		try {
			long millis = Math.max(0, this.clock.now().until(question.deadline()).toMillis());
			question.reply().get(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("No reply from the leader of {}", partition, ex);
		}
	}

	/** Returns the question, {@code null} if it was another topic of that name. */
	private @Nullable Question asked(TopicPartition partition, Described topic) {
		Question question = this.questions.get(partition);
		return (question != null && question.topic().equals(topic.id())) ? question : null;
	}

	private @Nullable Question ask(TopicPartition partition, Described topic) {
		Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
		for (int number = 0; number < topic.partitions(); number++) {
			TopicPartition each = new TopicPartition(partition.topic(), number);
			if (asked(each, topic) == null) {
				// Only the leader itself replies, once it accepts records.
				wanted.put(each, OffsetSpec.earliest());
			}
		}
		try {
			ListOffsetsResult replies = this.admin.get()
				.listOffsets(wanted, KafkaAdmin.limited(new ListOffsetsOptions()));
			MonotonicTime deadline = this.clock.now().plus(this.limit);
			wanted.keySet()
				.forEach((each) -> this.questions.put(each,
						new Question(topic.id(), replies.partitionResult(each), deadline)));
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The leader of {} cannot be asked", partition, ex);
		}
		return asked(partition, topic);
	}

	/**
	 * A question to the leader of a partition.
	 *
	 * @param topic the id of the topic at that time
	 * @param reply the first offset, which is of no interest
	 * @param deadline until when to wait for the reply
	 */
	private record Question(Uuid topic, KafkaFuture<ListOffsetsResultInfo> reply, MonotonicTime deadline) {

	}

}
