package io.github.shardkeeper;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.shard.ShardId;

/**
 * Starts, pauses and stops the handlers of <em>this instance</em>, by topic, registers
 * others and removes them. Other instances of the group are not affected: they take over
 * the shards of a stopped or removed topic if they consume it. To let a topic or a shard
 * rest on all instances, pause it through the endpoint. Thread-safe. No method blocks or
 * calls the store, except {@code register}; {@link #remove} waits for a start or
 * registration that has begun.
 * <p>
 * {@link #start}, {@link #pause} and {@link #stop} lead from every state to their own,
 * and do nothing if it is reached. The state, and what is registered and removed, is kept
 * while the consumers of the instance stop and start with their context; a new process
 * begins with the handlers of its beans, with {@code shardkeeper.consumer.auto-startup}
 * and {@code shardkeeper.topics.<topic>.consumer.auto-startup}.
 * <p>
 * These methods and {@link #remove} throw {@link IllegalArgumentException} if no
 * {@link ShardConsumer @ShardConsumer} method of this instance consumes the topic. Which
 * methods there are is known once the application context has started.
 */
public interface ShardConsumers {

	/**
	 * Returns the handlers of this instance.
	 * @return the handlers by topic, sorted; empty before the context has started
	 */
	Map<String, Registration> registrations();

	/**
	 * Takes part in a topic and calls its handler. Shards arrive when the leader has
	 * assigned them, which takes until the store can be used if it cannot; those of a
	 * paused topic are here already.
	 * @param topic the topic
	 */
	void start(String topic);

	/**
	 * Takes part in a topic without calling its handler: shards stay with this instance,
	 * or come to it, and wait. A call that has begun, or is about to, returns, and what
	 * it has done is committed; no other begins.
	 * @param topic the topic
	 */
	void pause(String topic);

	/**
	 * Takes no longer part in a topic. A call that has begun, or is about to, returns,
	 * and what it has done is committed; no other begins. The leader moves the shards to
	 * other instances that consume the topic. Without one they have no owner.
	 * <p>
	 * The handler itself may call this method, but must not wait for the result: the
	 * shard moves when the call has returned. Without a leader, and while the store does
	 * not reply, the result has to wait.
	 * @param topic the topic
	 * @return completes, on a thread that calls handlers, once no shard of the topic is
	 * consumed on this instance any more; or exceptionally with an
	 * {@link IllegalStateException} if the topic is started or paused before
	 */
	CompletableFuture<Void> stop(String topic);

	/**
	 * Registers the {@link ShardConsumer @ShardConsumer} methods of an object, which need
	 * not be a bean, with its callbacks: all of them or none. The topics are consumed as
	 * if it had been a bean from the beginning: from now on, unless {@code auto-startup}
	 * is {@code false}; if the consumers of this instance do not run, from their next
	 * start. A registration waits for a start that has begun, and for replies of the
	 * store.
	 * @param bean the object, possibly a proxy
	 * @return the topics
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if a topic is
	 * not configured or has a handler, or a method is not supported; the message says how
	 * to fix it. Also if instances that run have other settings of a topic
	 * @throws StoreUnavailableException if settings cannot be compared with those of
	 * other instances now; a retry makes sense
	 * @throws IllegalStateException if the shards of a removed handler have not ended:
	 * wait for the result of {@link #remove}
	 */
	Set<String> register(Object bean);

	/**
	 * Registers the only {@link ShardConsumer @ShardConsumer} method of an object for one
	 * topic, like {@link #register(Object)} and with its exceptions. The topics that the
	 * annotation names do not count.
	 * @param topic the topic
	 * @param bean the object, possibly a proxy
	 */
	void register(String topic, Object bean);

	/**
	 * Removes the handler of a topic, also that of a bean: this instance takes no longer
	 * part in the topic, and {@link #registrations} does not list it any more. A call
	 * that has begun, or is about to, returns, and what it has done is committed; no
	 * other begins. The leader moves the shards to other instances that consume the
	 * topic. Without one they have no owner. A handler that is registered later continues
	 * with their offsets and their state.
	 * <p>
	 * The handler itself may call this method, but must not wait for the result. Without
	 * a leader, and while the store does not reply, the result has to wait.
	 * @param topic the topic
	 * @return completes, on a thread that calls handlers, once no shard of the topic is
	 * consumed on this instance any more. From then on another handler may be registered
	 */
	CompletableFuture<Void> remove(String topic);

	/**
	 * Handler of a topic. Immutable.
	 *
	 * @param topic the topic
	 * @param handler the method, for people
	 * @param state the state; {@link State#STOPPED} also while the consumers of this
	 * instance are not running
	 * @param shards the shards of the topic that this instance has now; those of a
	 * stopped topic are about to move
	 */
	record Registration(String topic, String handler, State state, Set<ShardId> shards) {

		public Registration {
			Objects.requireNonNull(topic, "topic must not be null");
			Objects.requireNonNull(handler, "handler must not be null");
			Objects.requireNonNull(state, "state must not be null");
			Objects.requireNonNull(shards, "shards must not be null");
			shards = Set.copyOf(shards);
		}

	}

	/** State of a topic on this instance. */
	enum State {

		/** Takes part, and calls the handler. */
		RUNNING,
		/** Takes part, and does not call the handler. */
		PAUSED,
		/** Does not take part. */
		STOPPED

	}

}
