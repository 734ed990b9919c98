package io.github.shardkeeper.benchmarks.records;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;

/**
 * An application with the starter and one handler, at its defaults.
 *
 * @param text its name in the table
 * @param handler makes the bean with the handler
 * @param more further properties
 */
record Shardkeeper(String text, Function<HandledRecords, Object> handler,
		Map<String, Object> more) implements Reader<Records> {

	/** Handlers without state. */
	static final List<Shardkeeper> STATELESS = List.of(new Shardkeeper("Shardkeeper, record", Handlers.OneRecord::new),
			new Shardkeeper("Shardkeeper, list", Handlers.ManyRecords::new));

	/** Handlers with state. */
	static final List<Shardkeeper> STATEFUL = List.of(
			new Shardkeeper("Shardkeeper, record and state", Handlers.OneRecordAndState::new),
			new Shardkeeper("Shardkeeper, list and state", Handlers.ManyRecordsAndState::new),
			new Shardkeeper("Shardkeeper, record and three calls on its state", Handlers.OneRecordAndThreeCalls::new),
			new Shardkeeper("Shardkeeper, record and a Java record as state", Handlers.OneRecordAndJavaRecord::new));

	/** Each application is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	private Shardkeeper(String text, Function<HandledRecords, Object> handler) {
		this(text, handler, Map.of());
	}

	@Override
	public void consume(Records records, HandledRecords handled) throws Exception {
		Map<String, Object> properties = new HashMap<>(records.properties());
		properties.putAll(this.more);
		properties.putAll(Map.of("shardkeeper.group", "group-" + groups.incrementAndGet(),
				"shardkeeper.topics." + records.topic() + ".shards", records.shards(), "benchmark.topic",
				records.topic(), "server.port", 0));
		ConfigurableApplicationContext application = Applications.start(records.redis(), this.handler.apply(handled),
				properties);
		try {
			handled.awaitCompletion();
		}
		finally {
			application.close();
		}
	}

}
