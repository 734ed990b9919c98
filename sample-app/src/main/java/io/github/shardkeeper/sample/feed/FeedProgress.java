package io.github.shardkeeper.sample.feed;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Progress of the feed, kept in Redis for all instances. Thread-safe.
 * <p>
 * Redis keys: {@code shardkeeper-sample:source} holds the name of the only source of this
 * Redis; {@code shardkeeper-sample:fed:<source name>} holds the number of the next line.
 */
@Component
class FeedProgress {

	private static final String SOURCE_KEY = "shardkeeper-sample:source";

	private static final String FED_KEY = "shardkeeper-sample:fed:";

	private final StringRedisTemplate redis;

	FeedProgress(StringRedisTemplate redis) {
		this.redis = redis;
	}

	/**
	 * Claims this Redis for one source. Lines of a second source would have the same
	 * numbers, and be skipped as repeated.
	 * @param source the source's name
	 * @throws ShardkeeperConfigurationException when another source has claimed it
	 */
	void claim(String source) {
		String claimed = this.redis.opsForValue().get(SOURCE_KEY);
		if (claimed == null) {
			// Not before: a full Redis refuses every write.
			this.redis.opsForValue().setIfAbsent(SOURCE_KEY, source);
			claimed = this.redis.opsForValue().get(SOURCE_KEY);
		}
		if (!source.equals(claimed)) {
			throw new ShardkeeperConfigurationException(
					"This Redis holds the counts of '%s', and this instance is set to feed '%s': one Redis can only count one source."
						.formatted(claimed, source),
					"Start all instances with the same 'sample.file'. To start over, stop all of them first (a Redis"
							+ " that the sample has started ends with the last one), or use an empty Redis,"
							+ " for example --sample.redis.port=6380.");
		}
	}

	long next(String source) {
		String next = this.redis.opsForValue().get(FED_KEY + source);
		return (next != null) ? Long.parseLong(next) : 0;
	}

	void next(String source, long next) {
		this.redis.opsForValue().set(FED_KEY + source, Long.toString(next));
	}

}
