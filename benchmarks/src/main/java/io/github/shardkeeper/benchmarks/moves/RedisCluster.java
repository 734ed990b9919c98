package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * A Redis of its own, and an application that sends.
 */
final class RedisCluster implements Cluster {

	private final RedisProcess redis;

	private final int shards;

	private final List<String> settings;

	private final ConfigurableApplicationContext sender;

	private final ShardAppender appender;

	/**
	 * Starts Redis.
	 * @param shards the number of shards
	 * @param settings properties of the instances that are not at their defaults
	 */
	RedisCluster(int shards, List<String> settings) throws IOException, InterruptedException {
		this.redis = RedisProcess.start();
		this.shards = shards;
		this.settings = settings;
		this.sender = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "sender", topic(), shards));
		this.appender = this.sender.getBean(ShardAppender.class);
	}

	private static String topic() {
		return "shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".shards";
	}

	@Override
	public void send(byte[] payload) {
		List<NewRecord> records = new ArrayList<>();
		for (int shard = 0; shard < this.shards; shard++) {
			records.add(new NewRecord(ShardId.of(ShardkeeperInstance.TOPIC, shard), "key", payload));
		}
		this.appender.append(records);
	}

	@Override
	public List<String> instance(String group, String name, Path trace, int release) {
		List<String> command = new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"),
				ShardkeeperInstance.class.getName(), "--spring.data.redis.port=" + this.redis.port(),
				"--shardkeeper.group=" + group, "--shardkeeper.instance-id=" + name, "--shardkeeper.version=" + release,
				"--" + topic() + "=" + this.shards, "--trace.file=" + trace));
		this.settings.forEach((setting) -> command.add("--" + setting));
		return command;
	}

	@Override
	public String version() {
		return "Redis " + this.redis.version();
	}

	@Override
	public void close() {
		this.sender.close();
		this.redis.close();
	}

}
