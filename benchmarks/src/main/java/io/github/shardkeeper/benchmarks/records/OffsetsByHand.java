package io.github.shardkeeper.benchmarks.records;

import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchMessageListener;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ConsumerAwareRebalanceListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A Spring Kafka listener that stores its offsets in the database, in the transaction of
 * what it books, and begins there when it gets a partition: what is written without
 * Shardkeeper. It is not fenced. Confined to the thread that starts it.
 */
final class OffsetsByHand implements AutoCloseable {

	private static final String STORE = "update kafka_offset set next_offset = ? where group_name = ? and topic = ? and part = ?";

	private final ApplicationContext application;

	private final KafkaProperties kafka;

	private final Accounts accounts;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	private ConcurrentMessageListenerContainer<byte[], byte[]> container;

	private String group;

	OffsetsByHand(ApplicationContext application, KafkaProperties kafka, Accounts accounts,
			TransactionTemplate transactions) {
		this.application = application;
		this.kafka = kafka;
		this.accounts = accounts;
		this.jdbc = accounts.jdbc();
		this.transactions = transactions;
	}

	/** Starts as many consumers as there are partitions. */
	void start(String topic, int partitions, String group, boolean lists) {
		this.group = group;
		this.jdbc.execute("create table if not exists kafka_offset (group_name varchar(100), topic varchar(100), "
				+ "part int, next_offset bigint not null, primary key (group_name, topic, part))");
		ContainerProperties properties = new ContainerProperties(topic);
		// Kafka's own offsets are not used.
		properties.setAckMode(AckMode.MANUAL);
		properties.setConsumerRebalanceListener(new FromDatabase());
		// One transaction per record, or for all records of a poll.
		properties.setMessageListener(lists
				? (BatchMessageListener<byte[], byte[]>) (records) -> inTransaction(records.get(records.size() - 1),
						() -> this.accounts.book(records.stream().map(ConsumerRecord::value).toList()))
				: (MessageListener<byte[], byte[]>) (record) -> inTransaction(record,
						() -> this.accounts.book(record.value())));
		ByteArrayDeserializer bytes = new ByteArrayDeserializer();
		Map<String, Object> consumer = this.kafka.buildConsumerProperties();
		// The size of its lists, as of Shardkeeper's.
		consumer.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Transactions.LIST);
		this.container = new ConcurrentMessageListenerContainer<>(
				new DefaultKafkaConsumerFactory<>(consumer, bytes, bytes), properties);
		// Where its calls are timed, as those of a @KafkaListener.
		this.container.setApplicationContext(this.application);
		this.container.setConcurrency(partitions);
		this.container.start();
	}

	/** Books in a transaction, with the offset behind the last record. */
	private void inTransaction(ConsumerRecord<?, ?> last, Runnable booking) {
		this.transactions.executeWithoutResult((status) -> {
			booking.run();
			this.jdbc.update(STORE, last.offset() + 1, this.group, last.topic(), last.partition());
		});
	}

	@Override
	public void close() {
		if (this.container != null) {
			this.container.stop();
		}
	}

	/** Sets partitions to the offsets in the database. */
	private final class FromDatabase implements ConsumerAwareRebalanceListener {

		@Override
		public void onPartitionsAssigned(Consumer<?, ?> consumer, Collection<TopicPartition> partitions) {
			for (TopicPartition partition : partitions) {
				Object[] key = { OffsetsByHand.this.group, partition.topic(), partition.partition() };
				OffsetsByHand.this.jdbc.update("insert into kafka_offset values (?, ?, ?, 0) on conflict do nothing",
						key);
				Long next = OffsetsByHand.this.jdbc.queryForObject(
						"select next_offset from kafka_offset where group_name = ? and topic = ? and part = ?",
						Long.class, key);
				consumer.seek(partition, (next != null) ? next : 0);
			}
		}

	}

}
