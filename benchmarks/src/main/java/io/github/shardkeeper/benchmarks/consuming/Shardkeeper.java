package io.github.shardkeeper.benchmarks.consuming;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * An application with the starter and one handler, at its defaults.
 *
 * @param name its name in the table
 * @param inBatches whether the handler takes many records at once
 * @param virtualThreads whether handlers run on virtual threads
 * @param handler makes the bean with the handler
 */
record Shardkeeper(String name, boolean inBatches, boolean virtualThreads,
		Function<Tally, Object> handler) implements Contender<Records> {

	private static final int PATIENCE_SECONDS = 120;

	/** Each application is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	@Override
	public void consume(Records records, Tally tally) throws Exception {
		Object bean = this.handler.apply(tally);
		try (ConfigurableApplicationContext application = application(records, bean)) {
			tally.awaitCompletion(PATIENCE_SECONDS);
		}
	}

	/** Appends payloads, pipelined, list by list. */
	static void append(Streams streams, Consumer<Consumer<List<byte[]>>> filler) {
		Shardkeeper sender = new Shardkeeper("sender", false, false, (unused) -> new Object());
		try (ConfigurableApplicationContext application = sender.application(streams, new Object())) {
			filler.accept((payloads) -> Applications.append(application,
					payloads.stream()
						.map((payload) -> new NewRecord(ShardId.of(streams.topic(), ByteBuffer.wrap(payload).getInt()),
								"key", payload))
						.toList()));
		}
	}

	private ConfigurableApplicationContext application(Records records, Object bean) {
		Map<String, Object> properties = new HashMap<>(records.properties());
		properties.putAll(Map.of("shardkeeper.group", "group-" + groups.incrementAndGet(),
				"shardkeeper.topics." + records.topic() + ".shards", records.shards(), "benchmark.topic",
				records.topic(), "spring.threads.virtual.enabled", this.virtualThreads));
		return Applications.start(records.redis(), bean, properties);
	}

}
