package io.github.shardkeeper;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.shard.ShardId;

/**
 * Starts, pauses and stops the handlers of <em>this instance</em>, by topic. Other
 * instances of the group are not affected: they take over the shards of a stopped topic
 * if they consume it. To let a topic or a shard rest on all instances, pause it through
 * the endpoint. Thread-safe. No method blocks or calls the store.
 * <p>
 * Each method leads from every state to its own, and does nothing if it is reached. The
 * state is kept while the consumers of the instance stop and start with their context; a
 * new process begins with {@code shardkeeper.consumer.auto-startup} and
 * {@code shardkeeper.topics.<topic>.consumer.auto-startup}.
 * <p>
 * Methods with a topic throw {@link IllegalArgumentException} if no
 * {@link ShardConsumer @ShardConsumer} method of this instance consumes it. Which methods
 * there are is known once the application context has started.
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
