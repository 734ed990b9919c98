package io.github.shardkeeper.benchmarks.moves.group;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * A Redis that coordinates, and the records: in its streams, which an application fills,
 * or in a topic of Kafka.
 */
final class ShardkeeperCluster implements Cluster {

	/** Their libraries are on the class path; applications with Redis alone have none. */
	private static final String WITHOUT_KAFKA = "spring.autoconfigure.exclude="
			+ "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration,"
			+ "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final int shards;

	private final List<String> launcher;

	private final List<String> properties;

	private final Runnable closing;

	private final Sending sending;

	/**
	 * Starts the servers.
	 * @param launcher the class path and main class of an instance, or its jar
	 * @param onKafka whether the records are in Kafka
	 * @param properties properties of the instances that are not at their defaults
	 */
	ShardkeeperCluster(int shards, List<String> launcher, boolean onKafka, List<String> properties) {
		this.shards = shards;
		this.launcher = launcher;
		this.properties = new ArrayList<>(properties);
		if (onKafka) {
			NumbersTopic topic = new NumbersTopic(shards, Map.of());
			this.properties.add("shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".source=kafka");
			this.properties.add("spring.kafka.bootstrap-servers=" + topic.address());
			this.closing = topic::close;
			this.sending = topic::send;
		}
		else {
			ConfigurableApplicationContext application = Applications.start(this.redis.port(), new Object(),
					Map.of("shardkeeper.group", "sender", ShardkeeperInstance.SHARDS, shards));
			ShardAppender appender = application.getBean(ShardAppender.class);
			this.properties.add(WITHOUT_KAFKA);
			this.closing = application::close;
			this.sending = (payload) -> appender.append(IntStream.range(0, shards)
				.mapToObj((shard) -> new NewRecord(ShardId.of(ShardkeeperInstance.TOPIC, shard), "key", payload))
				.toList());
		}
	}

	@Override
	public void send(byte[] payload) {
		this.sending.send(payload);
	}

	@Override
	public List<String> instance(String group, String name, Path trace, int release) {
		List<String> command = new ArrayList<>(this.launcher);
		command.addAll(List.of("--spring.data.redis.port=" + this.redis.port(), "--shardkeeper.group=" + group,
				"--shardkeeper.instance-id=" + name, "--shardkeeper.version=" + release,
				"--" + ShardkeeperInstance.SHARDS + "=" + this.shards, "--trace.file=" + trace));
		this.properties.forEach((property) -> command.add("--" + property));
		return command;
	}

	@Override
	public void pause(long millis) throws InterruptedException {
		this.redis.freeze();
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		finally {
			this.redis.thaw();
		}
	}

	@Override
	public void close() {
		this.closing.run();
		this.redis.close();
	}

	/** Sends one record to each shard. */
	private interface Sending {

		void send(byte[] payload);

	}

}
