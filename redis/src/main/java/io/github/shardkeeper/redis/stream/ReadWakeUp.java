package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.lettuce.core.UnblockType;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandKeyword;
import io.lettuce.core.protocol.CommandType;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Ends one blocking read with {@code CLIENT UNBLOCK}, once for all requests. Nothing
 * waits for the reply. Requests are thread-safe; sending is confined to the polling
 * thread.
 */
final class ReadWakeUp {

	private static final Logger logger = PrintableLogger.of(ReadWakeUp.class);

	/** Time for which to retry at once while the read has not reached Redis. */
	private static final long RETRY_NANOS = Duration.ofMillis(100).toNanos();

	private static final String OPERATION = "start reading assigned or resumed shards at once, rather than within 2 s";

	private final RedisLink<byte[]> link;

	private final long clientId;

	private final LongSupplier nanoTime;

	private final Runnable onRetry;

	private final Runnable onNotFound;

	private final Consumer<Boolean> onPermission;

	private volatile boolean wanted;

	private volatile boolean sent;

	private volatile boolean refused;

	/** 0 before the first attempt; confined to the polling thread. */
	private long retryUntilNanos;

	/**
	 * Creates a wake-up that nobody has requested.
	 * @param onRetry runs when it has to be sent again
	 * @param onNotFound runs when a later attempt has found no blocked client
	 * @param onPermission receives whether Redis lets a read be woken, after each
	 * attempt: the read may have returned before its reply
	 */
	ReadWakeUp(RedisLink<byte[]> link, long clientId, LongSupplier nanoTime, Runnable onRetry, Runnable onNotFound,
			Consumer<Boolean> onPermission) {
		this.link = link;
		this.clientId = clientId;
		this.nanoTime = nanoTime;
		this.onRetry = onRetry;
		this.onNotFound = onNotFound;
		this.onPermission = onPermission;
	}

	void request() {
		this.wanted = true;
	}

	boolean isRequested() {
		return this.wanted;
	}

	void sendIfWanted() {
		if (!this.wanted || this.sent) {
			return;
		}
		this.sent = true;
		long now = this.nanoTime.getAsLong();
		if (this.retryUntilNanos == 0) {
			this.retryUntilNanos = now + RETRY_NANOS;
		}
		// By the time of sending: the reply may be late for reasons of its own.
		boolean last = now - this.retryUntilNanos > 0;
		try {
			this.link.sendAll(List.of(command())).get(0).whenComplete((unblocked, failure) -> {
				if (failure != null) {
					failed(failure);
					return;
				}
				this.link.refusedOperations().succeeded(OPERATION);
				answered(unblocked > 0, last);
			});
		}
		catch (StoreUnavailableException ex) {
			logger.debug("A blocking read could not be woken", ex);
			this.sent = false;
		}
	}

	private void failed(Throwable failure) {
		this.link.refusedOperations().failed(OPERATION, failure);
		if (failure instanceof StoreUnavailableException unavailable && RedisLink.isRefusal(unavailable)) {
			this.refused = true;
			this.onPermission.accept(false);
			this.onRetry.run();
			return;
		}
		this.sent = false;
	}

	private void answered(boolean found, boolean last) {
		this.onPermission.accept(true);
		if (found) {
			return;
		}
		// The read has not reached Redis yet.
		this.sent = false;
		if (last) {
			// It is slow, or the id is wrong: the next attempts are less frequent.
			this.onNotFound.run();
			return;
		}
		this.onRetry.run();
	}

	/** Returns whether Redis lets nobody wake a read. */
	boolean isRefused() {
		return this.refused;
	}

	/** Returns whether another attempt has to be made. */
	boolean isPending() {
		return this.wanted && !this.sent;
	}

	/** Returns whether the read should have returned by now, which confines its loss. */
	boolean isOverdue(Duration limit) {
		return this.retryUntilNanos != 0
				&& this.nanoTime.getAsLong() - this.retryUntilNanos + RETRY_NANOS > limit.toNanos();
	}

	private AsyncCommand<String, byte[], Long> command() {
		return new AsyncCommand<>(new Command<>(CommandType.CLIENT, new IntegerOutput<>(RedisStreamSource.CODEC),
				new CommandArgs<>(RedisStreamSource.CODEC).add(CommandKeyword.UNBLOCK)
					.add(this.clientId)
					.add(UnblockType.TIMEOUT)));
	}

}
