package io.github.shardkeeper.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.stereotype.Component;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;

/**
 * Counts the visits of every client, in the state of the client's shard.
 * <p>
 * The state is committed together with the offset, so each record is counted exactly
 * once, whoever crashes when. What is left are lines that were <em>sent</em> twice: when
 * the instance that feeds dies, the next one repeats the lines whose sending was not yet
 * noted. Lines are sent in the order of their numbers, so it is enough to remember each
 * shard's highest number: a line that is not higher has been counted. That makes the
 * whole chain exact, from the file to the count.
 */
@Component
final class VisitCounter {

	static final String TOPIC = "visits";

	/** The state's key for the highest line number that was handled in the shard. */
	static final String LINE = "line";

	/** The state's keys for the clients begin with it. */
	static final String CLIENT = "client:";

	private static final Logger logger = LoggerFactory.getLogger(VisitCounter.class);

	@ShardConsumer(TOPIC)
	void count(AccessLine line, ShardState state) {
		if (line.number() <= lastLine(state)) {
			return;
		}
		String client = CLIENT + line.client();
		ClientVisits visits = state.get(client, ClientVisits.class).orElse(ClientVisits.NONE);
		state.put(client, visits.plus(Visit.parse(line.text())));
		state.put(LINE, line.number());
	}

	@OnShardAssigned
	void assigned(ShardContext context, ShardState state) {
		logger.info("{} assigned to {}, {}", context.shard(), context.member(), progress(state));
	}

	@OnShardRevoked
	void revoked(ShardContext context, ShardState state) {
		logger.info("{} revoked from {}, {}", context.shard(), context.member(), progress(state));
	}

	private static long lastLine(ShardState state) {
		return state.get(LINE, Long.class).orElse(-1L);
	}

	private static String progress(ShardState state) {
		long line = lastLine(state);
		return (line < 0) ? "nothing counted yet" : "counted up to line " + line;
	}

}
