package io.github.shardkeeper.benchmarks.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Applications of Kafka Streams with a store in RocksDB and its changelog. When one ends,
 * it leaves its group, as it does not by default: the next one would wait for the session
 * to end.
 */
final class KafkaStreamsInstances implements Instances {

	private static final String STORE = "state";

	private final int entries;

	private final boolean keepsDirectory;

	private final EmbeddedKafka kafka = KafkaProcess.start(Map.of("group.initial.rebalance.delay.ms", "0"));

	private final KafkaProducer<String, Integer> producer;

	/** Contains the state directories of all instances. */
	private final Path directories;

	private int started;

	/**
	 * Starts a Kafka.
	 * @param keepsDirectory whether an instance finds the state directory of the one
	 * before
	 */
	KafkaStreamsInstances(int entries, boolean keepsDirectory) {
		this.entries = entries;
		this.keepsDirectory = keepsDirectory;
		try {
			this.directories = Files.createTempDirectory("benchmark-kafka-streams");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.kafka.createTopic(TOPIC, 1);
		this.producer = new KafkaProducer<>(this.kafka.clientProperties(), new StringSerializer(),
				new IntegerSerializer());
	}

	@Override
	public void send(List<Integer> numbers) {
		numbers.forEach((number) -> this.producer.send(new ProducerRecord<>(TOPIC, "key", number)));
	}

	@Override
	public Runnable start(Gaps gaps) {
		ProcessorSupplier<String, Integer, Void, Void> handler = () -> new Handler(this.entries, gaps);
		Topology topology = new Topology()
			.addSource("records", Serdes.String().deserializer(), Serdes.Integer().deserializer(), TOPIC)
			.addProcessor("handler", handler, "records")
			.addStateStore(Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(STORE), Serdes.String(),
					Serdes.String()), "handler");
		Path directory = this.directories.resolve(this.keepsDirectory ? "kept" : "instance-" + ++this.started);
		Properties properties = new Properties();
		properties.putAll(this.kafka.clientProperties());
		properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "states");
		properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
		KafkaStreams streams = new KafkaStreams(topology, properties);
		streams.start();
		return () -> streams.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP));
	}

	@Override
	public void close() {
		this.producer.close();
		this.kafka.close();
		try {
			FileSystemUtils.deleteRecursively(this.directories);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static final class Handler extends ContextualProcessor<String, Integer, Void, Void> {

		private final int entries;

		private final Gaps gaps;

		private KeyValueStore<String, String> state;

		Handler(int entries, Gaps gaps) {
			this.entries = entries;
			this.gaps = gaps;
		}

		@Override
		public void init(ProcessorContext<Void, Void> context) {
			super.init(context);
			this.state = context.getStateStore(STORE);
		}

		@Override
		public void process(Record<String, Integer> record) {
			int number = record.value();
			if (number < 0) {
				Instances.written(number, this.entries).forEach((key) -> this.state.put(key, VALUE));
				return;
			}
			String before = this.state.get(HANDLED);
			long counted = (before != null) ? Long.parseLong(before) + 1 : 1;
			this.state.put(HANDLED, String.valueOf(counted));
			this.gaps.handled(this, number, counted, this.state.get(Instances.read(number, this.entries)) != null);
		}

	}

}
