package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Runs scripts whose changes a failover must not lose: waits until replicas have them
 * ({@code WAIT}). {@code WAIT} blocks its connection, so it has one of its own;
 * heartbeats and other commands do not wait behind it. Without replicas to wait for, it
 * uses the plain link. Thread-safe.
 *
 * @param <V> the type of values
 */
public final class ReplicatedLink<V> implements AutoCloseable {

	private final RedisLink<V> plain;

	private final ReplicaWait wait;

	private final @Nullable RedisLink<V> waiting;

	/**
	 * Creates a link that is not connected.
	 * @param connector opens the connection
	 * @param plain the link to use without replicas to wait for; closed by its owner
	 * @param timeout maximum wait for an answer, without the wait for replicas
	 * @param wait the replicas to wait for
	 */
	public ReplicatedLink(RedisConnector connector, RedisLink<V> plain, Duration timeout, ReplicaWait wait) {
		this.plain = plain;
		this.wait = wait;
		this.waiting = wait.isNone() ? null : new RedisLink<>(connector, plain.codec(), timeout.plus(wait.timeout()));
	}

	/**
	 * Runs a script.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answer's type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none in time, or an error, or when
	 * too few replicas have the change; the master may have it all the same
	 */
	public <T> T run(LuaScript script, List<String> keys, List<V> arguments) {
		check(script);
		return (this.waiting != null) ? this.waiting.runReplicated(script, keys, arguments, this.wait)
				: this.plain.run(script, keys, arguments);
	}

	/**
	 * Runs a script for many keys, pipelined, on a Cluster each at its node.
	 * @param script the script
	 * @param keys for each run its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answers' type
	 * @return the answers in the same order
	 * @throws StoreUnavailableException when there is none in time, or an error, or when
	 * too few replicas have one of the changes; the masters may have all of them
	 */
	public <T> List<T> runAll(LuaScript script, List<List<String>> keys, List<V> arguments) {
		check(script);
		return (this.waiting != null) ? this.waiting.runAllReplicated(script, keys, arguments, this.wait)
				: this.plain.runAll(script, keys, arguments);
	}

	/**
	 * Sends a script; waits only where replicas have to be waited for.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answer's type
	 * @return the answer, or a {@link StoreUnavailableException} when there is none in
	 * time, or an error, or when too few replicas have the change; comes on a thread that
	 * must not be held up
	 */
	public <T> CompletableFuture<T> send(LuaScript script, List<String> keys, List<V> arguments) {
		check(script);
		if (this.waiting == null) {
			return this.plain.send(script, keys, arguments);
		}
		try {
			return CompletableFuture.completedFuture(this.<T>run(script, keys, arguments));
		}
		catch (StoreUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/** A repeated script that finds nothing to write would not wait for the first one. */
	private static void check(LuaScript script) {
		if (!script.writesBeforeWait()) {
			throw new IllegalArgumentException(
					"A script that is followed by WAIT calls writeBeforeWait(...) first: " + script.text());
		}
	}

	@Override
	public void close() {
		if (this.waiting != null) {
			this.waiting.close();
		}
	}

}
