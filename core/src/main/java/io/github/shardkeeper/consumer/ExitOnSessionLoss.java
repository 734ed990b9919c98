package io.github.shardkeeper.consumer;

import java.util.function.IntConsumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.worker.ConsumerEvents;

/**
 * Ends the process when its lease has ended, for applications whose writes nothing
 * fences. At once and without shutdown hooks: while these run, a handler that ignores its
 * interruption would go on beyond the lease. Thread-safe.
 */
public final class ExitOnSessionLoss implements ConsumerEvents {

	/** The exit code: a temporary failure, after which the process is to be restarted. */
	public static final int EXIT_CODE = 75;

	private static final Logger logger = LoggerFactory.getLogger(ExitOnSessionLoss.class);

	private final ConsumerEvents events;

	private final IntConsumer exit;

	/**
	 * Creates it.
	 * @param events hears everything else
	 * @param exit ends the process with a code
	 */
	public ExitOnSessionLoss(ConsumerEvents events, IntConsumer exit) {
		this.events = events;
		this.exit = exit;
	}

	@Override
	public void sessionLost(MemberId member) {
		try {
			logger.error("The lease of {} has ended; ending the process with code {}, as 'shardkeeper.session.on-loss' "
					+ "says", member, EXIT_CODE);
		}
		finally {
			this.exit.accept(EXIT_CODE);
		}
	}

	@Override
	public void sessionResumed(MemberId member, boolean anew) {
		this.events.sessionResumed(member, anew);
	}

	@Override
	public void assigned(ShardContext shard) {
		this.events.assigned(shard);
	}

	@Override
	public void revoked(ShardContext shard, boolean lost) {
		this.events.revoked(shard, lost);
	}

}
