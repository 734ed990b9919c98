package io.github.shardkeeper.consumer;

import java.util.function.IntConsumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.shard.ConsumerEvents;

/**
 * Ends the process when its lease has ended, for applications whose writes are not
 * fenced. It does so at once and without shutdown hooks: while they run, a handler that
 * ignores its interruption would continue after the end of the lease. Thread-safe.
 */
public final class ExitOnSessionLoss implements ConsumerEvents {

	/** Exit code of a temporary failure: the process can be restarted. */
	public static final int EXIT_CODE = 75;

	private static final Logger logger = PrintableLogger.of(ExitOnSessionLoss.class);

	private final ConsumerEvents events;

	private final IntConsumer exit;

	/** Creates a listener that ends the process and passes all other events on. */
	public ExitOnSessionLoss(ConsumerEvents events, IntConsumer exit) {
		this.events = events;
		this.exit = exit;
	}

	@Override
	public void sessionLost(MemberId member) {
		try {
			logger.error("The lease of {} has ended; ending the process with code {}, because of "
					+ "'shardkeeper.session.on-loss'", member, EXIT_CODE);
		}
		finally {
			this.exit.accept(EXIT_CODE);
		}
	}

	@Override
	public void sessionResumed(MemberId member, boolean newSession) {
		this.events.sessionResumed(member, newSession);
	}

	@Override
	public void assigned(ShardContext shard, @Nullable Offset after) {
		this.events.assigned(shard, after);
	}

	@Override
	public void revoked(ShardContext shard, boolean lost) {
		this.events.revoked(shard, lost);
	}

	@Override
	public void reached(ShardContext shard, MovePhase phase, MonotonicTime at) {
		this.events.reached(shard, phase, at);
	}

}
