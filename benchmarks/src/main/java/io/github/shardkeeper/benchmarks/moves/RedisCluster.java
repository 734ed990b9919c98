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

	private static final String OTHERS = "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration,"
			+ "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

	private final RedisProcess redis;

	private final int shards;

	private final List<String> launcher;

	private final List<String> settings;

	private final ConfigurableApplicationContext sender;

	private final ShardAppender appender;

	/**
	 * Starts Redis.
	 * @param shards the number of shards
	 * @param launcher starts an instance
	 * @param settings properties of the instances that are not at their defaults
	 */
	RedisCluster(int shards, List<String> launcher, List<String> settings) throws IOException, InterruptedException {
		this.redis = RedisProcess.start();
		this.shards = shards;
		this.launcher = launcher;
		this.settings = new ArrayList<>(settings);
		// The others' libraries are on the class path; applications with Redis alone have
		// none.
		this.settings.add("spring.autoconfigure.exclude=" + OTHERS);
		this.sender = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "sender", ShardkeeperInstance.SHARDS, shards));
		this.appender = this.sender.getBean(ShardAppender.class);
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
		return ShardkeeperInstance.command(this.launcher, this.redis, this.shards, group, name, trace, release,
				this.settings);
	}

	@Override
	public void stall(long millis) throws IOException, InterruptedException {
		this.redis.stall(millis);
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
