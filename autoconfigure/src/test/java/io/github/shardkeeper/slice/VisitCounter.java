package io.github.shardkeeper.slice;

import java.time.Duration;

import org.springframework.stereotype.Component;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;

/** Counts visits by client, reports each, and says when a client has been away. */
@Component
class VisitCounter {

	static final Duration AWAY = Duration.ofMinutes(10);

	private final Pages pages;

	VisitCounter(Pages pages) {
		this.pages = pages;
	}

	@ShardConsumer("visits")
	void visit(ShardRecord<String> visit, ShardState state, ShardTimers timers, ShardOutput output) {
		this.pages.opened(visit.payload());
		long count = state.increment(visit.key(), 1);
		state.put("last/" + visit.key(), visit.payload(), AWAY.multipliedBy(2));
		timers.set(visit.key(), "away", visit.timestamp().plus(AWAY));
		output.send("reports", visit.key(), visit.key() + " " + count);
	}

	@OnShardTimer
	void away(ShardTimer timer, ShardOutput output) {
		output.send("reports", timer.key(), timer.key() + " away");
	}

}
