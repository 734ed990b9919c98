package io.github.shardkeeper.consumer;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;

/** The handlers that a runner has found, and their states. Thread-safe. */
public final class RegisteredConsumers implements ShardConsumers {

	private static final Logger logger = PrintableLogger.of(RegisteredConsumers.class);

	private final ShardConsumerRunner runner;

	/**
	 * Stops by topic that have not ended. Guarded by itself, as are changes of states.
	 */
	private final Map<String, CompletableFuture<Void>> stops = new TreeMap<>();

	public RegisteredConsumers(ShardConsumerRunner runner) {
		this.runner = runner;
	}

	@Override
	public Map<String, Registration> registrations() {
		boolean running = this.runner.isConsuming();
		Set<ShardId> shards = this.runner.allShards();
		Map<String, Registration> found = new TreeMap<>();
		this.runner.handlers().forEach((topic, handler) -> {
			Set<ShardId> own = new TreeSet<>(shards);
			own.removeIf((shard) -> !shard.topic().equals(topic));
			State state = running ? this.runner.states().of(topic) : State.STOPPED;
			found.put(topic, new Registration(topic, handler.name(), state, own));
		});
		return Collections.unmodifiableMap(found);
	}

	@Override
	public void start(String topic) {
		change(topic, State.RUNNING);
	}

	@Override
	public void pause(String topic) {
		change(topic, State.PAUSED);
	}

	@Override
	public CompletableFuture<Void> stop(String topic) {
		synchronized (this.stops) {
			change(topic, State.STOPPED);
			CompletableFuture<Void> stop = this.stops.get(topic);
			if (stop == null) {
				stop = new CompletableFuture<>();
				this.stops.put(topic, stop);
				awaitEnd(topic, stop);
			}
			return stop.copy();
		}
	}

	@Override
	public Set<String> register(Object bean) {
		return registered(bean, null);
	}

	@Override
	public void register(String topic, Object bean) {
		registered(bean, Objects.requireNonNull(topic, "topic must not be null"));
	}

	private Set<String> registered(Object bean, @Nullable String topic) {
		Objects.requireNonNull(bean, "bean must not be null");
		Set<String> topics = this.runner.register(bean, topic);
		logger.info("Registered the handlers of {} for {}", bean.getClass().getName(), topics);
		return topics;
	}

	@Override
	public CompletableFuture<Void> remove(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		CompletableFuture<Void> removal = this.runner.remove(topic);
		logger.info("Topic '{}' has no handler on this instance any more", topic);
		return removal;
	}

	private void change(String topic, State state) {
		Objects.requireNonNull(topic, "topic must not be null");
		this.runner.requireHandler(topic);
		CompletableFuture<Void> stop;
		synchronized (this.stops) {
			if (this.runner.states().of(topic) == state) {
				return;
			}
			logger.info("Topic '{}' is {} on this instance now", topic, text(state));
			this.runner.change(topic, state);
			stop = this.stops.remove(topic);
		}
		if (stop != null) {
			this.runner.execute(() -> stop.completeExceptionally(new IllegalStateException(
					"Topic '%s' is %s again before it had stopped".formatted(topic, text(state)))));
		}
	}

	private void awaitEnd(String topic, CompletableFuture<Void> stop) {
		synchronized (this.stops) {
			if (this.stops.get(topic) != stop) {
				return;
			}
			CompletableFuture<Void> ended = this.runner.ended(topic);
			if (!ended.isDone()) {
				// Another shard may arrive meanwhile, which is given back.
				ended.thenRun(() -> awaitEnd(topic, stop));
				return;
			}
			this.stops.remove(topic);
		}
		this.runner.execute(() -> stop.complete(null));
	}

	private static String text(State state) {
		return switch (state) {
			case RUNNING -> "running";
			case PAUSED -> "paused";
			case STOPPED -> "stopped";
		};
	}

}
