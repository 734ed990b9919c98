package io.github.shardkeeper.benchmarks.records;

import java.io.IOException;
import java.util.Map;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.records.SendingClient.Kind;

/**
 * A process that receives records, and measures how long they took. Has no state.
 */
final class LatencyProcess {

	static final String TOPIC = SendingClient.TOPIC;

	private LatencyProcess() {
	}

	/**
	 * Receives until its input is closed. A request names a range of records; the reply
	 * has their number so far, and their latencies.
	 * @param arguments the contender, port of Redis, Kafka's servers, number of shards
	 */
	public static void main(String[] arguments) throws IOException {
		Receiver receiver = Receiver.valueOf(arguments[0]);
		int redis = Integer.parseInt(arguments[1]);
		int shards = Integer.parseInt(arguments[3]);
		Arrivals arrivals = new Arrivals();
		new Thread(() -> {
			try {
				receiver.receive(redis, arguments[2], shards, arrivals);
			}
			catch (Exception ex) {
				ex.printStackTrace();
				System.exit(1);
			}
		}).start();
		Figures.serve((request) -> {
			String[] range = request.split(" ");
			Samples micros = arrivals.micros(Integer.parseInt(range[0]), Integer.parseInt(range[1]));
			Figures.print("count", micros.values().size(), "p50", micros.median(), "p99", micros.quantile(0.99), "p999",
					micros.quantile(0.999), "max", micros.highest());
		});
	}

	/** What receives, and what sends to it. */
	enum Receiver implements Contender {

		BARE("bare XREAD", Kind.BARE, new BareClient(false)),

		SPRING("Spring container, automatic, pooled connections", Kind.BARE, new SpringContainer(true, true)),

		SHARDKEEPER("Shardkeeper, with state, web and actuator", Kind.PLAIN,
				new Shardkeeper("", Handlers.OneRecordAndThreeCalls::new,
						Map.of("spring.main.web-application-type", "servlet",
								"management.endpoints.web.exposure.include", "*"))),

		/** Its producer does not wait for more records. */
		KAFKA("Spring Kafka, linger.ms=0", Kind.KAFKA, null) {

			@Override
			void receive(int redis, String kafka, int shards, Arrivals arrivals) throws Exception {
				new SpringKafkaContainer(false).consume(new Partitions(kafka, redis, TOPIC, shards, 0), arrivals);
			}

		};

		private final String text;

		private final Kind sender;

		private final Reader<? super Streams> reader;

		Receiver(String text, Kind sender, Reader<? super Streams> reader) {
			this.text = text;
			this.sender = sender;
			this.reader = reader;
		}

		@Override
		public String text() {
			return this.text;
		}

		Kind sender() {
			return this.sender;
		}

		void receive(int redis, String kafka, int shards, Arrivals arrivals) throws Exception {
			this.reader.consume(new Streams(redis, TOPIC, shards, 0), arrivals);
		}

	}

}
