package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Runs scripts whose changes a failover must not lose: waits until replicas have them
 * ({@code WAIT}), on a connection of its own, because {@code WAIT} blocks it. Without
 * replicas to wait for, uses the plain link. Thread-safe.
 */
public final class ReplicatedLink<V> implements AutoCloseable {

	private final RedisLink<V> plain;

	private final ReplicaWait wait;

	private final @Nullable RedisLink<V> waiting;

	/**
	 * Creates a link that is not connected.
	 * @param plain the link to use without replicas to wait for; closed by its owner
	 * @param timeout maximum wait for a reply, without the wait for replicas
	 */
	public ReplicatedLink(RedisConnector connector, RedisLink<V> plain, Duration timeout, ReplicaWait wait) {
		this.plain = plain;
		this.wait = wait;
		this.waiting = wait.isNone() ? null : new RedisLink<>(connector, plain.codec(), timeout.plus(wait.timeout()));
	}

	/**
	 * Runs a script; all its keys are in one slot.
	 * @throws StoreUnavailableException when there is no reply in time, or an error, or
	 * too few replicas have the change; the master may have it nevertheless
	 */
	public <T> T run(LuaScript script, List<String> keys, List<V> arguments) {
		check(script);
		return (this.waiting != null) ? this.waiting.runReplicated(script, keys, arguments, this.wait)
				: this.plain.run(script, keys, arguments);
	}

	/**
	 * Runs a script for many keys, pipelined, on a Cluster each at its node.
	 * @throws StoreUnavailableException as {@link #run}; masters may have all changes
	 */
	public <T> List<T> runAll(LuaScript script, List<List<String>> keys, List<V> arguments) {
		check(script);
		return (this.waiting != null) ? this.waiting.runAllReplicated(script, keys, arguments, this.wait)
				: this.plain.runAll(script, keys, arguments);
	}

	/**
	 * Sends a script; waits only where replicas have to be waited for.
	 * @return the reply, or the exception of {@link #run}, on a thread that must not
	 * block
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
