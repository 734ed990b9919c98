package io.github.shardkeeper.endtoend;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Handler that sends each number on as a part of its call, to the shard of the same id of
 * another topic, with the count of the state. A few calls fail after they have sent.
 */
final class Forwarding {

	static final String TOPIC = "forwarded";

	/** Topic that nobody consumes. */
	static final String TARGET = "forwards";

	static final int SHARDS = 4;

	static final List<String> ARGUMENTS = List.of("--trace.forwarding=true",
			"--shardkeeper.topics." + TOPIC + ".shards=" + SHARDS,
			"--shardkeeper.topics." + TARGET + ".shards=" + SHARDS,
			"--shardkeeper.topics." + TOPIC + ".consumer.retry.max-attempts=50",
			"--shardkeeper.topics." + TOPIC + ".consumer.retry.initial-interval=10ms");

	private static final int CALLS_PER_FAILURE = 20;

	@ShardConsumer(TOPIC)
	void forward(String number, ShardContext context, ShardState state, ShardOutput output) {
		// The count shows that state and output are of one call.
		long count = state.increment("count", 1);
		output.send(TARGET, Outgoing.of(number + " " + count).toShard(Integer.parseInt(context.shard().id())));
		if (ThreadLocalRandom.current().nextInt(CALLS_PER_FAILURE) == 0) {
			throw new IllegalStateException("caused by the test");
		}
	}

}
