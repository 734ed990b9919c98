package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handler.ShardHandler;

/**
 * Handlers that come and go while the application runs. The next handler of a topic comes
 * after all shards of the one before have ended. Thread-safe: the start and the stop of a
 * run lock this, and nobody does while calls are awaited, which may change handlers.
 */
final class HandlerChanges {

	private final ConsumedHandlers handlers;

	private final ConsumerStates states;

	private final Supplier<@Nullable Consumption> running;

	private final Function<String, CompletableFuture<Void>> ended;

	private final Executor executor;

	/** Results of removals whose shards have not ended, by topic. */
	private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>();

	/**
	 * Creates changes of handlers.
	 * @param running returns the run, if there is one
	 * @param ended returns a future that completes once all workers of a topic have ended
	 * @param executor runs what the application does after a removal
	 */
	HandlerChanges(ConsumedHandlers handlers, ConsumerStates states, Supplier<@Nullable Consumption> running,
			Function<String, CompletableFuture<Void>> ended, Executor executor) {
		this.handlers = handlers;
		this.states = states;
		this.running = running;
		this.ended = ended;
		this.executor = executor;
	}

	/**
	 * Adds the handlers of an object, and consumes their topics if there is a run.
	 * @param topic the topic of its only handler; {@code null} for those that the
	 * annotations name
	 * @return the topics
	 */
	Set<String> register(Object bean, @Nullable String topic) {
		Map<String, ShardHandler> added = this.handlers.of(bean, topic);
		synchronized (this) {
			added.keySet().forEach(this::requireRemoved);
			this.handlers.register(added);
			added.keySet().forEach(this.states::reset);
			Consumption current = this.running.get();
			if (current != null) {
				try {
					current.add(added);
				}
				catch (RuntimeException | Error ex) {
					this.handlers.remove(added.keySet());
					throw ex;
				}
			}
		}
		return Set.copyOf(added.keySet());
	}

	private void requireRemoved(String topic) {
		if (this.removals.containsKey(topic)) {
			throw new IllegalStateException(
					"The handler of the topic '%s' was removed, and not all of its shards have ended on this instance: register the next one when the result of ShardConsumers.remove has completed"
						.formatted(topic));
		}
	}

	/**
	 * Removes the handler of a topic.
	 * @return completes on a thread that calls handlers; that of the first call, while
	 * its shards have not ended
	 * @throws IllegalArgumentException if the topic has none
	 */
	synchronized CompletableFuture<Void> remove(String topic) {
		CompletableFuture<Void> begun = this.removals.get(topic);
		if (begun != null) {
			return begun.copy();
		}
		this.handlers.require(topic);
		this.handlers.remove(Set.of(topic));
		CompletableFuture<Void> removal = new CompletableFuture<>();
		this.removals.put(topic, removal);
		Consumption current = this.running.get();
		try {
			if (current != null) {
				current.remove(topic);
			}
		}
		finally {
			// Also if a source throws: the topic would never have a handler again.
			this.ended.apply(topic).thenRun(() -> {
				this.removals.remove(topic, removal);
				this.executor.execute(() -> removal.complete(null));
			});
		}
		return removal.copy();
	}

}
