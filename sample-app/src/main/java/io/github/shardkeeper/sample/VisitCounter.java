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
 * Counts the visits of each client, in the state of the client's shard.
 * <p>
 * State and offset are committed together, so each record is counted exactly once,
 * whichever instance crashes. A line may still be <em>sent</em> twice: when the instance
 * that feeds dies, the next one repeats the last lines. Lines are sent in the order of
 * their numbers, so a line whose number is not above the shard's highest one has been
 * counted. The counts are therefore exact from the file on.
 */
@Component
public final class VisitCounter {

	/** Topic of the lines. */
	public static final String TOPIC = "visits";

	/** State key of the shard's highest line number. */
	static final String LINE = "line";

	/** Prefix of the clients' state keys. */
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
