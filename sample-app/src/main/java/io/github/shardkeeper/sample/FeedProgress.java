package io.github.shardkeeper.sample;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * How far the lines have been fed, kept where every instance finds it.
 * <p>
 * Redis keys: {@code shardkeeper-sample:source} is the name of the only source that was
 * ever fed here; {@code shardkeeper-sample:fed:<source name>} is the number of the line
 * to feed next.
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
	 * Makes sure that a Redis counts the lines of one source only: the numbers of another
	 * one begin at 0 again, and its lines would be taken for repeated ones.
	 * @param source the source's name
	 * @throws ShardkeeperConfigurationException when lines of another source were fed
	 */
	void claim(String source) {
		String claimed = this.redis.opsForValue().get(SOURCE_KEY);
		if (claimed == null) {
			// Only then: a Redis that is full refuses every write.
			this.redis.opsForValue().setIfAbsent(SOURCE_KEY, source);
			claimed = this.redis.opsForValue().get(SOURCE_KEY);
		}
		if (!source.equals(claimed)) {
			throw new ShardkeeperConfigurationException(
					"This Redis holds the counts of '%s', and this instance is set to feed '%s': one Redis can only count one source."
						.formatted(claimed, source),
					"Start all instances with the same 'sample.file'. To begin anew, stop all of them first (a Redis"
							+ " that the sample has started goes away with the last one), or use an empty Redis,"
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
