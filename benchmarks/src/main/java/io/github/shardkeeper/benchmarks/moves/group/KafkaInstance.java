package io.github.shardkeeper.benchmarks.moves.group;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Properties;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A loop over a {@code KafkaConsumer}, as its users write it: it commits after each poll
 * and before partitions are taken away, and leaves the group when it is asked to end. A
 * process of its own.
 */
public final class KafkaInstance implements ConsumerRebalanceListener {

	private static final Duration POLL = Duration.ofMillis(100);

	private final KafkaConsumer<byte[], byte[]> consumer;

	private final TraceWriter trace;

	private volatile boolean ending;

	private KafkaInstance(KafkaConsumer<byte[], byte[]> consumer, TraceWriter trace) {
		this.consumer = consumer;
		this.trace = trace;
	}

	/**
	 * Consumes until the process is asked to end.
	 * @param arguments the topic, the file for the trace, and the consumer's properties
	 */
	public static void main(String[] arguments) throws Exception {
		Properties properties = new Properties();
		for (String argument : List.of(arguments).subList(2, arguments.length)) {
			int equals = argument.indexOf('=');
			properties.put(argument.substring(0, equals), argument.substring(equals + 1));
		}
		ByteArrayDeserializer bytes = new ByteArrayDeserializer();
		KafkaInstance instance = new KafkaInstance(new KafkaConsumer<>(properties, bytes, bytes),
				new TraceWriter(Path.of(arguments[1])));
		Thread loop = Thread.currentThread();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> instance.end(loop)));
		instance.run(arguments[0]);
	}

	private void end(Thread loop) {
		this.ending = true;
		this.consumer.wakeup();
		try {
			loop.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void run(String topic) {
		try (this.consumer) {
			this.consumer.subscribe(List.of(topic), this);
			this.trace.ready();
			while (!this.ending) {
				ConsumerRecords<byte[], byte[]> records = this.consumer.poll(POLL);
				int generation = this.consumer.groupMetadata().generationId();
				records.forEach((record) -> this.trace.handled(record.partition(), record.value(), generation));
				if (!records.isEmpty()) {
					commit();
				}
			}
		}
		catch (WakeupException ex) {
			// Asked to end; what was handled since the last commit is committed in close.
		}
	}

	private void commit() {
		try {
			this.consumer.commitSync();
		}
		catch (CommitFailedException | RebalanceInProgressException | RetriableException ex) {
			this.trace.commitFailed();
		}
	}

	@Override
	public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
		commit();
	}

	@Override
	public void onPartitionsLost(Collection<TopicPartition> partitions) {
		// They are somebody else's already.
	}

	@Override
	public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
		// Nothing to prepare.
	}

}
