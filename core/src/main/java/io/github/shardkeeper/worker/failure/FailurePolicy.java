package io.github.shardkeeper.worker.failure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;

/**
 * Decides about failed deliveries: first they are retried in place, according to Spring
 * Framework's {@code RetryPolicy}; then the settings of the topic choose a route.
 */
public final class FailurePolicy {

	private static final int MAX_CAUSES = 20;

	private final ConsumerSettings settings;

	private final FailureRoutes routes;

	public FailurePolicy(ConsumerSettings settings, FailureRoutes routes) {
		this.settings = settings;
		this.routes = routes;
	}

	/** Returns the value of the state that has made a call fail, {@code null} if none. */
	public static @Nullable UnreadableStateException unreadableState(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
			if (cause instanceof UnreadableStateException unreadable) {
				return unreadable;
			}
			cause = cause.getCause();
		}
		return null;
	}

	public Decision decide(Delivery delivery, Throwable failure) {
		if (unreadableState(failure) != null) {
			// The record is not at fault.
			return new Decision.Take(this.routes.halt());
		}
		if (failure instanceof PayloadConversionException) {
			return (delivery.records().size() > 1) ? new Decision.Split() : new Decision.Take(unreadable());
		}
		boolean retryable = this.settings.retry().shouldRetry(failure);
		if (retryable && !delivery.isExhausted()) {
			long pause = delivery.backOff(this.settings).nextBackOff();
			if (pause != BackOffExecution.STOP) {
				return new Decision.Retry(Duration.ofMillis(pause));
			}
		}
		if (delivery.records().size() > 1) {
			return new Decision.Split();
		}
		return new Decision.Take(route(retryable ? delivery.first().rounds() : Integer.MAX_VALUE));
	}

	private FailureRoute route(int round) {
		List<Duration> delays = this.settings.retryDelays();
		return switch (this.settings.onFailure()) {
			case HALT -> this.routes.halt();
			case DEAD_LETTER -> this.routes.deadLetters();
			case RETRY_QUEUE ->
				(round < delays.size()) ? this.routes.retryQueue(delays.get(round)) : this.routes.deadLetters();
			case PARK_KEY -> (round < delays.size() || this.settings.parking().afterDelays() == AfterDelays.REPEAT)
					? this.routes.retryQueue(delays.get(Math.min(round, delays.size() - 1)))
					: this.routes.deadLetters();
		};
	}

	/** Returns the route of a record that cannot be converted: it is not retried. */
	public FailureRoute unreadable() {
		return route(Integer.MAX_VALUE);
	}

	/** Returns the route of a record that has waited too long for another attempt. */
	public FailureRoute expired() {
		return this.routes.deadLetters();
	}

	/** Returns whether no record may be handled before earlier ones of its delivery. */
	public boolean splitsAtUnreadable() {
		return this.settings.onFailure() == OnFailure.HALT || this.settings.onFailure() == OnFailure.PARK_KEY;
	}

	public sealed interface Decision {

		/** Retries the delivery in place. */
		record Retry(Duration pause) implements Decision {

		}

		/** Handles its records one by one: some of them may succeed. */
		record Split() implements Decision {

		}

		/** The record takes a route. */
		record Take(FailureRoute route) implements Decision {

		}

	}

}
