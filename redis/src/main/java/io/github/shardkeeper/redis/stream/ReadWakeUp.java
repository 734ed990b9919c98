package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import io.lettuce.core.UnblockType;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;

/**
 * Has Redis answer one blocking read at once, with {@code CLIENT UNBLOCK}, if somebody
 * wants it to. Nobody waits for its answer, neither the reader nor those for whom it is
 * done: once for all of them, because the next read takes in all that there is. Requests
 * are thread-safe; sending is confined to the thread that polls.
 */
final class ReadWakeUp {

	private static final Logger logger = LoggerFactory.getLogger(ReadWakeUp.class);

	/** So long it is tried to unblock a read that Redis does not know yet. */
	private static final long UNBLOCKING_NANOS = Duration.ofMillis(100).toNanos();

	private static final String STEP = "start reading assigned or resumed shards at once, rather than within 2 s";

	private final RedisLink<byte[]> link;

	private final long clientId;

	private final LongSupplier nanoTime;

	private final Runnable onRetry;

	private final Runnable onNobody;

	/** Whether there is more to read than the read knows of. */
	private volatile boolean wanted;

	/** Whether Redis was asked to, and has not said that it could not. */
	private volatile boolean underWay;

	/** 0 before the first attempt; confined to the thread that polls. */
	private long untilNanos;

	/**
	 * Creates it.
	 * @param clientId of the connection that reads
	 * @param nanoTime tells the time
	 * @param onRetry runs when it has to be sent again
	 * @param onNobody runs when nobody could be unblocked
	 */
	ReadWakeUp(RedisLink<byte[]> link, long clientId, LongSupplier nanoTime, Runnable onRetry, Runnable onNobody) {
		this.link = link;
		this.clientId = clientId;
		this.nanoTime = nanoTime;
		this.onRetry = onRetry;
		this.onNobody = onNobody;
	}

	void request() {
		this.wanted = true;
	}

	void sendIfWanted() {
		if (!this.wanted || this.underWay) {
			return;
		}
		this.underWay = true;
		long now = this.nanoTime.getAsLong();
		if (this.untilNanos == 0) {
			this.untilNanos = now + UNBLOCKING_NANOS;
		}
		// By when it was sent: its answer may be late for reasons of its own.
		boolean last = now - this.untilNanos > 0;
		try {
			this.link.sendAll(List.of(command())).get(0).whenComplete((unblocked, failure) -> {
				if (failure != null) {
					this.link.refusedSteps().failed(STEP, failure);
					return;
				}
				this.link.refusedSteps().done(STEP);
				answered(unblocked > 0, last);
			});
		}
		catch (StoreUnavailableException ex) {
			// The read ends by itself, sooner or later; this only saves time.
			logger.debug("A blocking read could not be woken", ex);
		}
	}

	private void answered(boolean found, boolean last) {
		if (found) {
			return;
		}
		if (last) {
			this.onNobody.run();
			return;
		}
		// The read has not reached Redis yet: there was nobody to unblock.
		this.underWay = false;
		this.onRetry.run();
	}

	private AsyncCommand<String, byte[], Long> command() {
		return new AsyncCommand<>(new Command<>(CommandType.CLIENT, new IntegerOutput<>(RedisStreamSource.CODEC),
				new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.UNBLOCK)
					.add(this.clientId)
					.add(UnblockType.TIMEOUT)));
	}

}
