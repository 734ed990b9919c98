package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import org.awaitility.Awaitility;

import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Input and results of {@link Forwarding}. Confined to one thread.
 */
final class ForwardedGroup implements AutoCloseable {

	private static final Duration LONGEST_WAIT = Duration.ofSeconds(90);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final EmbeddedRedis redis;

	private final Feeder feeder;

	/** Begins to feed. */
	ForwardedGroup(EmbeddedRedis redis, RedisConnector connector, Duration interval) {
		this.redis = redis;
		this.feeder = new Feeder(connector, Forwarding.TOPIC, Forwarding.SHARDS, interval, 1, TIMEOUT);
	}

	void stopFeeding() {
		this.feeder.stop();
	}

	/**
	 * Waits until every number has been sent on, and checks that each was once, in order,
	 * with the count of its own call.
	 * @return a summary for people
	 */
	String awaitForwardedAndCheck() {
		long fed = 0;
		for (int shard = 0; shard < Forwarding.SHARDS; shard++) {
			int number = shard;
			long sent = this.feeder.sent(shard);
			fed += sent;
			Awaitility.await("all of shard %d is sent on".formatted(shard))
				.atMost(LONGEST_WAIT)
				.pollInterval(Duration.ofMillis(500))
				.untilAsserted(() -> assertThat(received(this.redis, Forwarding.TARGET, number))
					.hasSizeGreaterThanOrEqualTo((int) sent));
			assertThat(received(this.redis, Forwarding.TARGET, shard)).as("%s/%d", Forwarding.TARGET, shard)
				.isEqualTo(LongStream.rangeClosed(1, sent).mapToObj((each) -> each + " " + each).toList());
		}
		return "forwarding: each of %d records was sent on once, in order".formatted(fed);
	}

	/**
	 * Returns the payloads of all records of a shard, one of the first 16 of its topic.
	 */
	static List<String> received(EmbeddedRedis redis, String topic, int shard) {
		String stream = "shardkeeper:{%s#%d}:stream:%d".formatted(topic, shard, shard);
		List<StreamMessage<String, String>> entries = redis
			.call((commands) -> commands.xrange(stream, Range.unbounded()));
		return entries.stream().map((entry) -> entry.getBody().get("v")).toList();
	}

	@Override
	public void close() {
		this.feeder.close();
	}

}
