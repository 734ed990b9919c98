package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;

/**
 * Commands that were sent in one piece and that no thread waits for. Thread-safe.
 */
final class SentTogether<T> {

	private final int sentAt;

	private final Duration timeout;

	private final Consumer<RuntimeException> onFailure;

	/** Told once, whether all of them were answered in time. */
	private final Consumer<Boolean> onEnd;

	private final AtomicInteger missing = new AtomicInteger();

	/** Not kept any longer than they are needed. */
	private volatile List<? extends AsyncCommand<?, ?, T>> commands = List.of();

	private volatile boolean givenUp;

	/**
	 * Creates it.
	 * @param sentAt the step of the watch over answers
	 */
	SentTogether(int sentAt, Duration timeout, Consumer<RuntimeException> onFailure, Consumer<Boolean> onEnd) {
		this.sentAt = sentAt;
		this.timeout = timeout;
		this.onFailure = onFailure;
		this.onEnd = onEnd;
	}

	<V> List<CompletableFuture<T>> send(List<AsyncCommand<String, V, T>> toSend,
			StatefulConnection<String, V> connection) {
		List<CompletableFuture<T>> answers = new ArrayList<>(toSend.size());
		this.missing.set(toSend.size());
		this.commands = toSend;
		for (AsyncCommand<String, V, T> command : toSend) {
			CompletableFuture<T> answer = new CompletableFuture<>();
			answers.add(answer);
			command.whenComplete((value, failure) -> ended(command, answer, value, failure));
		}
		try {
			connection.dispatch(toSend);
		}
		catch (RedisException | IllegalStateException ex) {
			// Some of them may be on their way.
			toSend.forEach((command) -> command.completeExceptionally(ex));
		}
		return answers;
	}

	int sentAt() {
		return this.sentAt;
	}

	boolean isDone() {
		return this.missing.get() == 0;
	}

	/** There was no answer in time. */
	void giveUp() {
		this.givenUp = true;
		// What is cancelled is not sent (again) after a reconnect.
		this.commands.forEach((command) -> command.cancel(true));
	}

	private void ended(AsyncCommand<?, ?, T> command, CompletableFuture<T> answer, T value, Throwable failure) {
		if (failure instanceof RedisCommandTimeoutException) {
			// The client may have a timer of its own, with the same limit.
			this.givenUp = true;
		}
		RedisException cause = (failure != null) ? RedisLink.named(asRedisException(failure), command) : null;
		try {
			if (this.missing.decrementAndGet() == 0) {
				this.commands = List.of();
				this.onEnd.accept(!this.givenUp);
			}
			if (cause != null) {
				this.onFailure.accept(cause);
			}
		}
		finally {
			// Whatever becomes of that, somebody waits for this.
			if (cause != null) {
				answer.completeExceptionally(RedisLink.unavailable(cause));
			}
			else {
				answer.complete(value);
			}
		}
	}

	private RedisException asRedisException(Throwable failure) {
		if (failure instanceof RedisCommandTimeoutException || failure instanceof CancellationException) {
			return new RedisException(this.givenUp ? "no answer within " + this.timeout.toMillis() + " ms"
					: "the connection was closed while waiting for an answer", failure);
		}
		return (failure instanceof RedisException redis) ? redis : new RedisException(failure);
	}

}
