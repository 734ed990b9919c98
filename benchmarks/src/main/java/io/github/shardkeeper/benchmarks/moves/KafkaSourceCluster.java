package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.github.shardkeeper.benchmarks.KafkaProcess;
import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * A broker of its own, whose topic Shardkeeper consumes, and a Redis that coordinates.
 */
final class KafkaSourceCluster implements Cluster {

	private final RedisProcess redis;

	private final NumbersTopic topic;

	private final int shards;

	private final List<String> settings;

	/**
	 * Starts both.
	 * @param shards how many partitions
	 */
	KafkaSourceCluster(int shards) throws IOException, InterruptedException {
		this.redis = RedisProcess.start();
		try {
			this.topic = new NumbersTopic(shards, Map.of());
		}
		catch (RuntimeException ex) {
			this.redis.close();
			throw ex;
		}
		this.shards = shards;
		this.settings = List.of("shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".source=kafka",
				"spring.kafka.bootstrap-servers=" + this.topic.address());
	}

	@Override
	public void send(byte[] payload) {
		this.topic.send(payload);
	}

	@Override
	public List<String> instance(String group, String name, Path trace, int release) {
		return ShardkeeperInstance.command(ShardkeeperInstance.launcher(), this.redis, this.shards, group, name, trace,
				release, this.settings);
	}

	@Override
	public String version() {
		return "Redis " + this.redis.version() + ", " + KafkaProcess.version();
	}

	@Override
	public void close() {
		this.topic.close();
		this.redis.close();
	}

}
