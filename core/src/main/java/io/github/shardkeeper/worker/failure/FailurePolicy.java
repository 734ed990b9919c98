package io.github.shardkeeper.worker.failure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.backoff.BackOffExecution;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.UnreadableStateException;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.worker.call.Delivery;
import io.github.shardkeeper.worker.record.TrackedRecord;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Decides about failed deliveries: as the application chooses; otherwise first they are
 * retried in place, according to Spring Framework's {@code RetryPolicy}, and then the
 * settings of the topic choose a route. Confined to the shard's worker.
 */
public final class FailurePolicy {

	private static final int MAX_CAUSES = 20;

	private final ConsumerSettings settings;

	private final FailureRoutes routes;

	private final FailureChoices choices;

	public FailurePolicy(OwnedShard owned, FailureRoutes routes) {
		this.settings = owned.settings();
		this.routes = routes;
		this.choices = new FailureChoices(owned);
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
		boolean unreadable = failure instanceof PayloadConversionException;
		FailureAction chosen = this.choices.choose(delivery.first(), delivery.calls(), failure);
		if (chosen.kind() == FailureAction.Kind.RETRY && !unreadable) {
			// It counts as one of the configured retries, so that a record is not retried
			// again as often once the application leaves it to them.
			delivery.backOff(this.settings).nextBackOff();
			return new Decision.Retry(Objects.requireNonNull(chosen.delay()));
		}
		FailureRoute route = route(chosen, delivery.first().rounds());
		if (route == null) {
			return unreadable ? splitOrTake(delivery, delivery::parts, unreadable()) : configured(delivery, failure);
		}
		// None of its records has used up the configured retries.
		return splitOrTake(delivery, delivery::single, route);
	}

	private static Decision splitOrTake(Delivery delivery, Supplier<List<Delivery>> parts, FailureRoute route) {
		return (delivery.records().size() > 1) ? new Decision.Split(parts.get()) : new Decision.Take(route);
	}

	private Decision configured(Delivery delivery, Throwable failure) {
		boolean retryable = this.settings.retry().shouldRetry(failure);
		if (retryable && !delivery.isExhausted()) {
			long pause = delivery.backOff(this.settings).nextBackOff();
			if (pause != BackOffExecution.STOP) {
				return new Decision.Retry(Duration.ofMillis(pause));
			}
		}
		return splitOrTake(delivery, delivery::parts,
				route(this.settings.onFailure(), retryable ? delivery.first().rounds() : Integer.MAX_VALUE));
	}

	/** Returns the route that the application chooses, {@code null} for none. */
	private @Nullable FailureRoute route(FailureAction chosen, int round) {
		Duration delay = chosen.delay();
		return switch (chosen.kind()) {
			case AS_CONFIGURED, RETRY -> null;
			case RETRY_QUEUE -> (delay != null) ? this.routes.retryQueue(delay) : route(OnFailure.RETRY_QUEUE, round);
			case PARK_KEY -> (delay != null) ? this.routes.retryQueue(delay) : route(OnFailure.PARK_KEY, round);
			case DEAD_LETTER -> this.routes.deadLetters();
			case HALT -> this.routes.halt();
		};
	}

	private FailureRoute route(OnFailure onFailure, int round) {
		List<Duration> delays = this.settings.retryDelays();
		return switch (onFailure) {
			case HALT -> this.routes.halt();
			case DEAD_LETTER -> this.routes.deadLetters();
			case RETRY_QUEUE ->
				(round < delays.size()) ? this.routes.retryQueue(delays.get(round)) : this.routes.deadLetters();
			case PARK_KEY -> (round < delays.size() || this.settings.parking().afterDelays() == AfterDelays.REPEAT)
					? this.routes.retryQueue(delays.get(Math.min(round, delays.size() - 1)))
					: this.routes.deadLetters();
		};
	}

	/**
	 * Returns the route of a record that cannot be converted: it is not retried in place.
	 * @param attempt the number of the call that was not made
	 */
	public FailureRoute unreadable(TrackedRecord record, int attempt, Throwable failure) {
		FailureRoute chosen = route(this.choices.choose(record, attempt, failure), record.rounds());
		return (chosen != null) ? chosen : unreadable();
	}

	private FailureRoute unreadable() {
		return route(this.settings.onFailure(), Integer.MAX_VALUE);
	}

	/** Returns the route of a record that has waited too long for another attempt. */
	public FailureRoute expired() {
		return this.routes.deadLetters();
	}

	/**
	 * Returns whether no record may be handled before earlier ones of its delivery: the
	 * shard or a key may have to stop at one of them.
	 */
	public boolean splitsAtUnreadable() {
		return this.settings.onFailure() == OnFailure.HALT || this.settings.onFailure() == OnFailure.PARK_KEY
				|| !this.settings.failureHandlers().isEmpty();
	}

	public sealed interface Decision {

		/** Retries the delivery in place. */
		record Retry(Duration pause) implements Decision {

		}

		/** Handles its records one by one: some of them may succeed. */
		record Split(List<Delivery> parts) implements Decision {

		}

		/** The record takes a route. */
		record Take(FailureRoute route) implements Decision {

		}

	}

}
