package io.github.shardkeeper.benchmarks.state;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Applications with the starter, on Redis Streams.
 */
final class ShardkeeperInstances implements Instances {

	private static final ShardId SHARD = ShardId.of(TOPIC, 0);

	private final int entries;

	private final Map<String, Object> properties;

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final ConfigurableApplicationContext sender;

	/**
	 * Starts a Redis.
	 * @param more properties that are not at their defaults
	 */
	ShardkeeperInstances(int entries, Map<String, Object> more) {
		this.entries = entries;
		this.properties = new HashMap<>(more);
		this.properties.putAll(Map.of("shardkeeper.group", "states", "shardkeeper.topics." + TOPIC + ".shards", 1));
		this.sender = Applications.start(this.redis.port(), new Object(),
				Map.of("shardkeeper.group", "sender", "shardkeeper.topics." + TOPIC + ".shards", 1));
	}

	@Override
	public void send(List<Integer> numbers) {
		Applications.append(this.sender, numbers.stream()
			.map((number) -> new NewRecord(SHARD, "key", String.valueOf(number).getBytes(StandardCharsets.US_ASCII)))
			.toList());
	}

	@Override
	public Runnable start(Gaps gaps) {
		return Applications.start(this.redis.port(), new Handler(this.entries, gaps), this.properties)::close;
	}

	@Override
	public void close() {
		this.sender.close();
		this.redis.close();
	}

	static final class Handler {

		private final int entries;

		private final Gaps gaps;

		Handler(int entries, Gaps gaps) {
			this.entries = entries;
			this.gaps = gaps;
		}

		@ShardConsumer(TOPIC)
		void handle(Integer number, ShardState state) {
			if (number < 0) {
				Instances.written(number, this.entries).forEach((key) -> state.put(key, VALUE));
				return;
			}
			this.gaps.handled(this, number, state.increment(HANDLED, 1),
					state.get(Instances.read(number, this.entries), String.class).isPresent());
		}

	}

}
