package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.Objects;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ShardId;

/**
 * The stream of a shard on the shared Redis, to which others send. It can be put aside,
 * so that it takes no more records. Confined to one thread.
 */
final class TargetStream {

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	private final String key;

	TargetStream(String keyPrefix, ShardId shard) {
		this.key = "%s:{%s#%s}:stream:%s".formatted(keyPrefix, shard.topic(), shard.id(), shard.id());
	}

	/** Returns the payloads of its records. */
	List<String> records() {
		return Objects.requireNonNull(this.redis.opsForStream().range(this.key, Range.unbounded()))
			.stream()
			.map((record) -> String.valueOf(record.getValue().get("v")))
			.toList();
	}

	/** Lets its key hold something else, which is not to be overwritten. */
	void putAside() {
		this.redis.rename(this.key, this.key + "-aside");
		this.redis.opsForValue().set(this.key, "mine");
	}

	void bringBack() {
		this.redis.rename(this.key + "-aside", this.key);
	}

}
