package io.github.shardkeeper.benchmarks.consuming;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.ChildProcess.Figures;

/**
 * A process with one handler. Each request names a group, in which an application of this
 * process reads all records from their beginning. Has no state.
 */
final class HandlerProcess {

	private static final int PATIENCE_SECONDS = 120;

	private HandlerProcess() {
	}

	/**
	 * Answers with {@code rate} and {@code micros}, the processor time per record.
	 * @param arguments Redis' port, topic, shards, records per shard, handler
	 */
	public static void main(String[] arguments) throws IOException {
		int port = Integer.parseInt(arguments[0]);
		String topic = arguments[1];
		int shards = Integer.parseInt(arguments[2]);
		int recordsPerShard = Integer.parseInt(arguments[3]);
		HandlerKind handler = HandlerKind.valueOf(arguments[4]);
		Figures.serve((group) -> {
			Tally tally = consume(port, topic, group, new Tally(shards, recordsPerShard), shards, handler.bean());
			Figures.print("rate", tally.rate(), "micros", tally.processorMicrosPerRecord());
		});
	}

	private static Tally consume(int port, String topic, String group, Tally tally, int shards,
			Function<Tally, Object> handler) {
		System.gc();
		Map<String, Object> properties = new HashMap<>(Map.of("shardkeeper.group", group,
				"shardkeeper.topics." + topic + ".shards", shards, "benchmark.topic", topic, "server.port", 0,
				"management.endpoints.web.exposure.include", "*", "spring.main.banner-mode", "off"));
		try (ConfigurableApplicationContext application = Applications.startWhole(port, handler.apply(tally),
				properties)) {
			tally.awaitCompletion(PATIENCE_SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Interrupted while records are consumed", ex);
		}
		tally.verify();
		return tally;
	}

	/** Handlers of one record, by what they keep. */
	enum HandlerKind {

		NO_STATE("no state", Handlers.OneRecord::new),

		NUMBER("one increment", Handlers.OneRecordAndState::new),

		TYPED("increment, get and put of a number", Handlers.OneRecordAndTypedState::new),

		RECORD("get and put of a Java record", Handlers.OneRecordAndRecordState::new);

		private final String text;

		private final Function<Tally, Object> bean;

		HandlerKind(String text, Function<Tally, Object> bean) {
			this.text = text;
			this.bean = bean;
		}

		String text() {
			return this.text;
		}

		Function<Tally, Object> bean() {
			return this.bean;
		}

	}

}
