package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.AsyncCommand;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisConnector.Connection;

/**
 * One connection to Redis with a time limit on every call, opened when it is first
 * needed. It is replaced when its node is no longer a master, and after two time-outs in
 * a row, because a connection that was cut silently never replies again; an answered
 * error resets the count. Thread-safe; calls of several threads are pipelined.
 */
public final class RedisLink<V> implements AutoCloseable {

	/** Errors of a node that does not serve the key, now or at all. */
	private static final Pattern NOT_SERVED_HERE = Pattern
		.compile("^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|LOADING) ");

	/** Error of a node that was a master when it was connected, also inside a script. */
	private static final String REPLICA_ERROR = "READONLY You can't write";

	/** Error of a master that is cut off from its replicas, also inside a script. */
	static final String NO_REPLICAS = "NOREPLICAS Not enough good replicas to write";

	private final RedisConnector connector;

	private final Duration timeout;

	/** For commands that no thread waits for. */
	private final ReplyTimeouts watch;

	private final LinkConnection<V> connection;

	/** Creates a link that is not connected. The time limit is for each reply. */
	public RedisLink(RedisConnector connector, RedisCodec<String, V> codec, Duration timeout) {
		this.connector = connector;
		this.timeout = timeout;
		this.watch = new ReplyTimeouts(timeout, connector.background());
		this.connection = new LinkConnection<>(connector, codec, timeout);
	}

	RedisCodec<String, V> codec() {
		return this.connection.codec();
	}

	/**
	 * {@return the operations that Redis refuses, of all users of the connector}
	 */
	public RefusedOperations refusedOperations() {
		return this.connector.refusedOperations();
	}

	/**
	 * Returns the executor for work that follows a reply and takes too long for the
	 * connection's thread; its tasks must not block for long.
	 */
	public Executor background() {
		return this.connector.background();
	}

	/**
	 * Sends one command and waits for its reply.
	 * @throws StoreUnavailableException when there is none in time, or an error
	 */
	public <T> T call(Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command) {
		return callAll(List.of(command)).get(0);
	}

	/**
	 * Sends commands, pipelined, and waits for their replies, in the same order.
	 * @throws StoreUnavailableException when one is missing in time, or is an error; the
	 * others may have been executed
	 */
	public <T> List<T> callAll(
			List<? extends Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>>> commands) {
		return exchange(null, (connection) -> {
			List<RedisFuture<T>> futures = new ArrayList<>(commands.size());
			for (Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command : commands) {
				futures.add(command.apply(connection.commands()));
			}
			return futures;
		});
	}

	private <T> List<T> exchange(@Nullable String key, Function<Connection<V>, List<RedisFuture<T>>> send) {
		return atStart((patience) -> exchange(key, send, patience));
	}

	/** Makes a call that waits, within the time limit of startup. */
	private <T> T atStart(Function<Duration, T> step) {
		try {
			return this.connector.startupTimeout().call(this.timeout, step);
		}
		catch (RedisException ex) {
			// Only the limit throws it.
			throw unavailable(ex, null);
		}
	}

	private <T> List<T> exchange(@Nullable String key, Function<Connection<V>, List<RedisFuture<T>>> send,
			Duration patience) {
		Connection<V> open = null;
		PendingReplies<T> pending;
		try {
			open = this.connection.open(patience);
			pending = pending(open, key);
			pending.expect(open.send(send));
		}
		catch (RedisException | IllegalStateException ex) {
			// A client that is being stopped throws IllegalStateException.
			throw unavailable(ex, open);
		}
		return pending.await(patience);
	}

	/** Creates the replies; {@code key} is the commands' only key, or {@code null}. */
	private <T> PendingReplies<T> pending(Connection<V> open, @Nullable String key) {
		return new PendingReplies<>(this.timeout, this.watch.now(),
				(key != null) ? this.connector.watchMaster(key) : null, new PendingReplies.Observer() {
					@Override
					public void failed(RedisException failure) {
						mastersMayHaveChanged(failure, open);
					}

					@Override
					public boolean isUnresponsive() {
						return RedisLink.this.connection.isUnresponsive(open);
					}

					@Override
					public void ended(boolean answered, boolean timedOut) {
						if (answered || timedOut) {
							RedisLink.this.connection.answered(open, !timedOut);
						}
					}
				});
	}

	private StoreUnavailableException unavailable(RuntimeException failure, @Nullable Connection<V> on) {
		mastersMayHaveChanged(failure, on);
		return unavailable(failure);
	}

	static StoreUnavailableException unavailable(RuntimeException failure) {
		return RedisFailure.unavailable(failure);
	}

	static boolean isRefusal(@Nullable Throwable failure) {
		if (!(failure instanceof RedisCommandExecutionException error)) {
			return false;
		}
		String message = String.valueOf(error.getMessage());
		return !NOT_SERVED_HERE.matcher(message).find() && !message.contains(REPLICA_ERROR)
				&& !message.contains(NO_REPLICAS);
	}

	/**
	 * Sends commands together; waits only until a connection is open. Calls of one thread
	 * are executed in their order. A reply is given up at most 500 ms, and at most a
	 * tenth of the limit, after the limit.
	 * @return for each command its reply or a {@link StoreUnavailableException}, on a
	 * thread that must not block
	 * @throws StoreUnavailableException when there is no connection; none was sent
	 */
	public <T> List<CompletableFuture<T>> sendAll(List<AsyncCommand<String, V, T>> commands) {
		PendingReplies<T> pending = atStart((patience) -> dispatch(commands, patience));
		this.watch.add(pending);
		return pending.replies();
	}

	private <T> PendingReplies<T> dispatch(List<AsyncCommand<String, V, T>> commands, Duration patience) {
		Connection<V> open;
		try {
			open = this.connection.open(patience);
		}
		catch (RedisException | IllegalStateException ex) {
			throw unavailable(ex, null);
		}
		PendingReplies<T> pending = pending(open, null);
		pending.send(commands, open);
		return pending;
	}

	/**
	 * Sends commands together and waits for their replies, in the same order.
	 * @param onRefused receives the index and the error of a command; its reply is
	 * {@code null}
	 * @throws StoreUnavailableException when one is missing in time; the others may have
	 * been executed
	 */
	public <T> List<@Nullable T> callEach(List<AsyncCommand<String, V, T>> commands,
			BiConsumer<Integer, StoreUnavailableException> onRefused) {
		return atStart((patience) -> dispatch(commands, patience).await(patience, onRefused));
	}

	/** Begins to open the connection; a call that comes later waits for the rest. */
	void connectAhead() {
		this.connection.opened();
	}

	/**
	 * Sends a command to every master that serves slots of a Cluster, without one to the
	 * only master, and waits for the replies.
	 * @throws StoreUnavailableException when one is missing in time, or is an error
	 */
	<T> List<T> callMasters(Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command) {
		return exchange(null, (open) -> open.commandsOfMasters(this.timeout).stream().map(command).toList());
	}

	/**
	 * Runs a script, by its hash where Redis knows it; all its keys are in one slot.
	 * @throws StoreUnavailableException when there is no reply in time, or an error
	 */
	public <T> T run(LuaScript script, List<String> keys, List<V> arguments) {
		ScriptCall<V> call = new ScriptCall<>(script, keys, arguments);
		return byHashFirst(script, List.of(keys),
				(byHash) -> this.<T>exchange(call.key(), (open) -> List.of(call.send(open.commands(), byHash))).get(0));
	}

	/**
	 * Sends a script; waits neither for its reply nor for a connection. Later commands
	 * may overtake it. A reply is given up at most 500 ms, and at most a tenth of the
	 * limit, after the limit.
	 * @return the reply or a {@link StoreUnavailableException}, on a thread that must not
	 * block
	 */
	public <T> CompletableFuture<T> send(LuaScript script, List<String> keys, List<V> arguments) {
		CompletableFuture<T> result = new CompletableFuture<>();
		long begun = this.connector.scriptTimes().begin();
		send(new ScriptCall<>(script, keys, arguments), true, begun, result);
		return result;
	}

	/**
	 * Sends one command; waits neither for its reply nor for a connection. Later commands
	 * may overtake it. A reply is given up as one of a script.
	 * @return the reply or a {@link StoreUnavailableException}, on a thread that must not
	 * block
	 */
	public <T> CompletableFuture<T> send(AsyncCommand<String, V, T> command) {
		CompletableFuture<T> result = new CompletableFuture<>();
		onceOpen(result, (open) -> {
			PendingReplies<T> pending = pending(open, null);
			pending.send(List.of(command), open);
			this.watch.add(pending);
			pending.replies().get(0).whenComplete((value, problem) -> {
				if (problem != null) {
					result.completeExceptionally(problem);
				}
				else {
					result.complete(value);
				}
			});
		});
		return result;
	}

	private <T> void send(ScriptCall<V> call, boolean byHash, long begunNanos, CompletableFuture<T> result) {
		onceOpen(result, (open) -> this.<T>sendOn(open, call, byHash)
			.whenComplete((value, problem) -> answered(call, byHash, begunNanos, value, problem, result)));
	}

	private void onceOpen(CompletableFuture<?> result, Consumer<Connection<V>> send) {
		this.connection.opened().whenComplete((open, failure) -> {
			try {
				if (failure != null) {
					throw unavailable(new NoConnectionException(failure), null);
				}
				send.accept(open);
			}
			catch (Throwable ex) {
				// The future must complete in any case.
				result.completeExceptionally(ex);
			}
		});
	}

	private <T> CompletableFuture<T> sendOn(Connection<V> open, ScriptCall<V> call, boolean byHash) {
		PendingReplies<T> pending = pending(open, call.key());
		try {
			pending.expect(open.send((on) -> List.of(call.send(on.commands(), byHash))));
		}
		catch (RedisException | IllegalStateException ex) {
			throw unavailable(ex, open);
		}
		this.watch.add(pending);
		return pending.replies().get(0);
	}

	private <T> void answered(ScriptCall<V> call, boolean byHash, long begunNanos, T value, @Nullable Throwable failure,
			CompletableFuture<T> result) {
		if (failure == null) {
			this.connector.scriptTimes().answered(call.script(), begunNanos);
			result.complete(value);
			return;
		}
		StoreUnavailableException problem = (StoreUnavailableException) failure;
		if (!byHash || !isUnknownScript(problem)) {
			result.completeExceptionally(named(problem, call.script(), call.keys()));
			return;
		}
		try {
			send(call, false, begunNanos, result);
		}
		catch (Throwable ex) {
			result.completeExceptionally(ex);
		}
	}

	/**
	 * Runs a script, and waits until replicas have everything that this connection has
	 * written. Later commands on this link wait meanwhile.
	 * @throws StoreUnavailableException when there is no reply in time, or an error, or
	 * too few replicas have it; the master may have it nevertheless
	 */
	<T> T runReplicated(LuaScript script, List<String> keys, List<V> arguments, ReplicaWait wait) {
		return this.<T>runAllReplicated(script, List.of(keys), arguments, wait).get(0);
	}

	/**
	 * Runs a script for many lists of keys, each in one slot, pipelined.
	 * @throws StoreUnavailableException when one reply is missing in time, or is an
	 * error; the others may have been executed
	 */
	<T> List<T> runAll(LuaScript script, List<List<String>> keys, List<V> arguments) {
		List<ScriptCall<V>> calls = ScriptCall.forEach(script, keys, arguments);
		return byHashFirst(script, keys, (byHash) -> exchange(null, (open) -> {
			List<RedisFuture<T>> sent = new ArrayList<>(calls.size());
			calls.forEach((call) -> sent.add(call.send(open.commands(), byHash)));
			return sent;
		}));
	}

	/** Runs a script for many keys, and waits for the replicas of each node involved. */
	<T> List<T> runAllReplicated(LuaScript script, List<List<String>> keys, List<V> arguments, ReplicaWait wait) {
		List<ScriptCall<V>> calls = ScriptCall.forEach(script, keys, arguments);
		return byHashFirst(script, keys, (byHash) -> callAndWait(calls, byHash, wait));
	}

	@SuppressWarnings("unchecked")
	private <T> List<T> callAndWait(List<ScriptCall<V>> calls, boolean byHash, ReplicaWait wait) {
		String onlyKey = (calls.size() == 1) ? calls.get(0).key() : null;
		List<Object> replies = exchange(onlyKey, (connection) -> {
			Set<RedisClusterAsyncCommands<String, V>> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
			List<RedisFuture<Object>> sent = new ArrayList<>(calls.size() + 1);
			for (ScriptCall<V> call : calls) {
				RedisClusterAsyncCommands<String, V> node = connection.commandsAt(call.key(), this.timeout);
				nodes.add(node);
				sent.add(call.send(node, byHash));
			}
			for (RedisClusterAsyncCommands<String, V> node : nodes) {
				RedisFuture<?> replicas = node.waitForReplication(wait.replicas(), wait.timeout().toMillis());
				sent.add((RedisFuture<Object>) replicas);
			}
			return sent;
		});
		replies.subList(calls.size(), replies.size()).forEach((have) -> wait.check((Long) have));
		return (List<T>) replies.subList(0, calls.size());
	}

	private <T> T byHashFirst(LuaScript script, List<List<String>> keys, Function<Boolean, T> call) {
		long begun = this.connector.scriptTimes().begin();
		try {
			T reply = byHashFirst(call);
			this.connector.scriptTimes().answered(script, begun);
			return reply;
		}
		catch (StoreUnavailableException ex) {
			throw named(ex, script, RefusedScript.keys(ex.getCause(), keys));
		}
	}

	private static <T> T byHashFirst(Function<Boolean, T> call) {
		try {
			return call.apply(true);
		}
		catch (StoreUnavailableException ex) {
			if (!isUnknownScript(ex)) {
				throw ex;
			}
			return call.apply(false);
		}
	}

	private static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script,
			List<String> keys) {
		StoreUnavailableException refused = UnknownCommand.named(MissingRight.named(failure, script, keys), script);
		return UnreadableEntry.named(WrongKeyType.named(refused, script, keys), script, keys);
	}

	private static boolean isUnknownScript(StoreUnavailableException failure) {
		return failure.getCause() instanceof RedisNoScriptException;
	}

	/** Detects a failover that client and connection do not know of. */
	private void mastersMayHaveChanged(RuntimeException failure, @Nullable Connection<V> on) {
		String message = String.valueOf(failure.getMessage());
		if (!(failure instanceof RedisCommandExecutionException) || NOT_SERVED_HERE.matcher(message).find()) {
			this.connector.refreshTopology();
		}
		if (message.contains(REPLICA_ERROR) && on != null) {
			this.connection.discard(on);
		}
	}

	/** Adds the key, the right or the command that a refusal is about. */
	static RedisException named(RedisException failure, @Nullable Object command) {
		RedisException refused = MissingRight.named(WrongKeyType.named(failure, command), command);
		return RefusedScript.of(UnknownCommand.named(refused, command), command);
	}

	/**
	 * {@return whether Redis answered with an error: the command was not executed}
	 */
	public static boolean isError(StoreUnavailableException failure) {
		return failure.getCause() instanceof RedisCommandExecutionException;
	}

	/**
	 * {@return whether a command or script was not sent, for want of a connection}
	 */
	public static boolean isNotSent(StoreUnavailableException failure) {
		return failure.getCause() instanceof NoConnectionException;
	}

	/**
	 * {@return whether Redis refused the command itself, so that a retry fails too}
	 */
	public static boolean isRefusal(StoreUnavailableException failure) {
		return isRefusal(failure.getCause());
	}

	@Override
	public void close() {
		this.connection.close();
	}

	/** No connection could be opened. Its message is that of the cause. */
	@SuppressWarnings("serial")
	private static final class NoConnectionException extends RedisException {

		NoConnectionException(Throwable cause) {
			super(cause);
		}

	}

	private record ScriptCall<V>(LuaScript script, List<String> keys, List<V> arguments) {

		static <V> List<ScriptCall<V>> forEach(LuaScript script, List<List<String>> keys, List<V> arguments) {
			return keys.stream().map((each) -> new ScriptCall<>(script, each, arguments)).toList();
		}

		String key() {
			return this.keys.get(0);
		}

		@SuppressWarnings("unchecked")
		<T> RedisFuture<T> send(RedisClusterAsyncCommands<String, V> commands, boolean byHash) {
			String[] keyArray = this.keys.toArray(String[]::new);
			V[] argumentArray = (V[]) this.arguments.toArray();
			return byHash ? commands.evalsha(this.script.digest(), this.script.output(), keyArray, argumentArray)
					: commands.eval(this.script.text(), this.script.output(), keyArray, argumentArray);
		}

	}

}
