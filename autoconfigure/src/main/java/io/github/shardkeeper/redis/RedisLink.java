package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
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
 * One connection to Redis, opened when it is first needed, with a time limit on every
 * call. After two calls in a row without an answer it is closed and opened anew, because
 * a connection that was cut without a word never answers again; so is one at a node that
 * is no master any more. Thread-safe; calls of several threads are pipelined.
 *
 * @param <V> the type of values
 */
public final class RedisLink<V> implements AutoCloseable {

	/**
	 * How long a node of a Cluster may take before we look whether it is still the one.
	 */
	static final long PATIENCE_WITH_A_NODE_NANOS = 500_000_000;

	/** Of a node that does not serve what it is asked for, now or at all. */
	private static final Pattern NOT_SERVED_HERE = Pattern
		.compile("^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|LOADING) ");

	/** Of a replica, also from inside a script. On a connection made to a master. */
	private static final String REPLICA_ERROR = "READONLY You can't write";

	/** Of a master that is cut off from its replicas, also from inside a script. */
	static final String NO_REPLICAS = "NOREPLICAS Not enough good replicas to write";

	private final RedisConnector connector;

	private final Duration timeout;

	/** Over what is sent without waiting. */
	private final AnswerWatch watch;

	private final LinkConnection<V> connection;

	/**
	 * Creates a link that is not connected.
	 * @param connector opens the connection
	 * @param codec turns keys and values into bytes
	 * @param timeout the longest wait for an answer
	 */
	public RedisLink(RedisConnector connector, RedisCodec<String, V> codec, Duration timeout) {
		this.connector = connector;
		this.timeout = timeout;
		this.watch = new AnswerWatch(timeout);
		this.connection = new LinkConnection<>(connector, codec, timeout);
	}

	RedisCodec<String, V> codec() {
		return this.connection.codec();
	}

	/**
	 * What Redis refuses of steps that nothing waits for.
	 * @return the steps of all who use the same connector
	 */
	public RefusedSteps refusedSteps() {
		return this.connector.refusedSteps();
	}

	/**
	 * Threads for what follows an answer and must not hold up its connection's thread.
	 * @return an executor; a few tasks at a time, and none that waits for long
	 */
	public Executor background() {
		return this.connector.background();
	}

	/**
	 * Sends one command and waits for its answer.
	 * @param command sends it
	 * @param <T> the answer's type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none in time, or an error
	 */
	public <T> T call(Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command) {
		return callAll(List.of(command)).get(0);
	}

	/**
	 * Sends commands, pipelined, and waits for their answers.
	 * @param commands send them
	 * @param <T> the answers' type
	 * @return the answers in the same order
	 * @throws StoreUnavailableException when one is missing in time, or is an error; the
	 * others may have been carried out
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
		try {
			return this.connector.startLimit().call(this.timeout, (patience) -> exchange(key, send, patience));
		}
		catch (RedisException ex) {
			// Of the limit alone.
			throw unavailable(ex, null);
		}
	}

	private <T> List<T> exchange(@Nullable String key, Function<Connection<V>, List<RedisFuture<T>>> send,
			Duration patience) {
		Connection<V> open = null;
		try {
			open = this.connection.open(patience);
			BooleanSupplier servedElsewhere = (key != null) ? this.connector.watchMaster(key) : null;
			List<T> answers = await(send.apply(open), open, servedElsewhere, patience);
			this.connection.answered(open, true);
			return answers;
		}
		catch (RedisException | IllegalStateException ex) {
			// IllegalStateException is what a client says that is being stopped.
			throw unavailable(ex, open);
		}
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
	 * Sends commands in this order, in one piece, and does not wait for their answers;
	 * only for a connection, where there is none. Calls of one thread are carried out in
	 * their order.
	 * @param commands the commands
	 * @param <T> the answers' type
	 * @return the answers in the same order, or a {@link StoreUnavailableException} where
	 * there is none in time, or an error; come on a thread that must not be held up
	 * @throws StoreUnavailableException when there is no connection; none was sent
	 */
	public <T> List<CompletableFuture<T>> sendAll(List<AsyncCommand<String, V, T>> commands) {
		Connection<V> open;
		try {
			open = this.connector.startLimit().call(this.timeout, this.connection::open);
		}
		catch (RedisException | IllegalStateException ex) {
			throw unavailable(ex, null);
		}
		SentTogether<T> sent = new SentTogether<>(this.watch.now(), this.timeout,
				(failure) -> mastersMayHaveChanged(failure, open), (inTime) -> this.connection.answered(open, inTime));
		List<CompletableFuture<T>> answers = sent.send(commands, open.stateful());
		this.watch.add(sent);
		return answers;
	}

	/**
	 * Sends commands in one piece, and waits for their answers; an error that Redis
	 * answers one of them with is none of the others'.
	 * @param commands the commands
	 * @param onRefused hears of errors: the command's place in the list, and the error
	 * @param <T> the answers' type
	 * @return the answers in the same order, {@code null} also in place of an error
	 * @throws StoreUnavailableException when one is missing in time; the others may have
	 * been carried out
	 */
	public <T> List<@Nullable T> callEach(List<AsyncCommand<String, V, T>> commands,
			BiConsumer<Integer, StoreUnavailableException> onRefused) {
		List<@Nullable T> answers = new ArrayList<>(commands.size());
		for (CompletableFuture<T> answer : sendAll(commands)) {
			try {
				answers.add(answer.get());
			}
			catch (ExecutionException ex) {
				StoreUnavailableException failure = (StoreUnavailableException) Objects.requireNonNull(ex.getCause());
				if (!failure.isRefusal()) {
					throw failure;
				}
				onRefused.accept(answers.size(), failure);
				answers.add(null);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw unavailable(new RedisException("interrupted while waiting for an answer", ex), null);
			}
		}
		return answers;
	}

	/**
	 * Runs a script, by its hash where Redis knows it.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answer's type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none in time, or an error
	 */
	@SuppressWarnings("unchecked")
	public <T> T run(LuaScript script, List<String> keys, List<V> arguments) {
		String[] keyArray = keys.toArray(String[]::new);
		V[] argumentArray = (V[]) arguments.toArray();
		return byHashFirst(script, keys,
				() -> callAt(keys.get(0),
						(commands) -> commands.evalsha(script.digest(), script.output(), keyArray, argumentArray)),
				() -> callAt(keys.get(0),
						(commands) -> commands.eval(script.text(), script.output(), keyArray, argumentArray)));
	}

	/**
	 * Sends a script and does not wait for its answer, nor for a connection: those of one
	 * thread are pipelined. What is sent while one of them is not answered may overtake
	 * it.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answer's type
	 * @return the answer, or a {@link StoreUnavailableException} when there is none in
	 * time, or an error; comes on a thread that must not be held up
	 */
	@SuppressWarnings("unchecked")
	public <T> CompletableFuture<T> send(LuaScript script, List<String> keys, List<V> arguments) {
		String[] keyArray = keys.toArray(String[]::new);
		V[] argumentArray = (V[]) arguments.toArray();
		CompletableFuture<T> result = new CompletableFuture<>();
		Consumer<StoreUnavailableException> onFailure = (failure) -> result
			.completeExceptionally(MissingRight.named(failure, script, keys));
		sendAt(keys.get(0),
				(commands) -> commands.<T>evalsha(script.digest(), script.output(), keyArray, argumentArray), result,
				(failure) -> {
					if (!isUnknownScript(failure)) {
						onFailure.accept(failure);
						return;
					}
					sendAt(keys.get(0),
							(commands) -> commands.<T>eval(script.text(), script.output(), keyArray, argumentArray),
							result, onFailure);
				});
		return result;
	}

	private <T> void sendAt(String key, Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command,
			CompletableFuture<T> result, Consumer<StoreUnavailableException> onFailure) {
		this.connection.opened().whenComplete((open, failure) -> {
			try {
				if (failure == null) {
					sendOn(open, key, command, result, onFailure);
				}
				else {
					onFailure.accept(unavailable(
							(failure instanceof RuntimeException problem) ? problem : new RedisException(failure),
							null));
				}
			}
			catch (Throwable ex) {
				// Whoever waits for the answer must not wait for ever.
				result.completeExceptionally(ex);
			}
		});
	}

	private <T> void sendOn(Connection<V> open, String key,
			Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command, CompletableFuture<T> result,
			Consumer<StoreUnavailableException> onFailure) {
		CompletableFuture<T> answer;
		try {
			answer = new AsyncAnswer<>(command.apply(open.commands()), this.timeout, background())
				.begin(this.connector.watchMaster(key));
		}
		catch (RedisException | IllegalStateException ex) {
			onFailure.accept(unavailable(ex, open));
			return;
		}
		answer.whenComplete((value, failure) -> {
			if (failure == null) {
				this.connection.answered(open, true);
				result.complete(value);
				return;
			}
			if (AsyncAnswer.isTimeout(failure)) {
				this.connection.answered(open, false);
			}
			onFailure.accept(unavailable((RuntimeException) failure, open));
		});
	}

	/**
	 * Runs a script, and waits until replicas have what this connection has written, the
	 * script last. Holds up whatever else is sent on this link.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param arguments its arguments
	 * @param wait what to wait for
	 * @param <T> the answer's type
	 * @return the answer
	 * @throws StoreUnavailableException when there is none in time, or an error, or when
	 * too few replicas have it; the master may have it all the same
	 */
	@SuppressWarnings("unchecked")
	<T> T runReplicated(LuaScript script, List<String> keys, List<V> arguments, ReplicaWait wait) {
		String[] keyArray = keys.toArray(String[]::new);
		V[] argumentArray = (V[]) arguments.toArray();
		return byHashFirst(script, keys,
				() -> callAndWait(keys.get(0), wait,
						(commands) -> commands.evalsha(script.digest(), script.output(), keyArray, argumentArray)),
				() -> callAndWait(keys.get(0), wait,
						(commands) -> commands.eval(script.text(), script.output(), keyArray, argumentArray)));
	}

	/**
	 * Runs a script for many keys, pipelined.
	 * @param script the script
	 * @param keys for each run its keys, all in one slot
	 * @param arguments its arguments
	 * @param <T> the answers' type
	 * @return the answers in the same order
	 * @throws StoreUnavailableException when one is missing in time, or is an error; the
	 * others may have been carried out
	 */
	@SuppressWarnings("unchecked")
	<T> List<T> runAll(LuaScript script, List<List<String>> keys, List<V> arguments) {
		V[] argumentArray = (V[]) arguments.toArray();
		return byHashFirst(script, keys.isEmpty() ? List.of() : keys.get(0),
				() -> callAll(commandsOf(keys,
						(commands, each) -> commands.evalsha(script.digest(), script.output(), each, argumentArray))),
				() -> callAll(commandsOf(keys,
						(commands, each) -> commands.eval(script.text(), script.output(), each, argumentArray))));
	}

	private <T> List<Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>>> commandsOf(List<List<String>> keys,
			BiFunction<RedisClusterAsyncCommands<String, V>, String[], RedisFuture<T>> command) {
		List<Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>>> commands = new ArrayList<>(keys.size());
		keys.forEach((each) -> commands.add((connection) -> command.apply(connection, each.toArray(String[]::new))));
		return commands;
	}

	/**
	 * The same, and waits until replicas have what this connection has written at each of
	 * the nodes that were asked.
	 */
	@SuppressWarnings("unchecked")
	<T> List<T> runAllReplicated(LuaScript script, List<List<String>> keys, List<V> arguments, ReplicaWait wait) {
		V[] argumentArray = (V[]) arguments.toArray();
		return byHashFirst(script, keys.isEmpty() ? List.of() : keys.get(0),
				() -> callAllAndWait(keys, wait,
						(commands, each) -> commands.evalsha(script.digest(), script.output(), each, argumentArray)),
				() -> callAllAndWait(keys, wait,
						(commands, each) -> commands.eval(script.text(), script.output(), each, argumentArray)));
	}

	@SuppressWarnings("unchecked")
	private <T> List<T> callAllAndWait(List<List<String>> keys, ReplicaWait wait,
			BiFunction<RedisClusterAsyncCommands<String, V>, String[], RedisFuture<T>> command) {
		List<Object> answers = exchange(null, (connection) -> {
			Set<RedisClusterAsyncCommands<String, V>> nodes = Collections.newSetFromMap(new IdentityHashMap<>());
			List<RedisFuture<Object>> futures = new ArrayList<>(keys.size() + 1);
			for (List<String> each : keys) {
				RedisClusterAsyncCommands<String, V> node = connection.commandsAt(each.get(0), this.timeout);
				nodes.add(node);
				futures.add((RedisFuture<Object>) command.apply(node, each.toArray(String[]::new)));
			}
			for (RedisClusterAsyncCommands<String, V> node : nodes) {
				futures.add((RedisFuture<Object>) (RedisFuture<?>) node.waitForReplication(wait.replicas(),
						wait.timeout().toMillis()));
			}
			return futures;
		});
		answers.subList(keys.size(), answers.size()).forEach((have) -> wait.check((Long) have));
		return (List<T>) answers.subList(0, keys.size());
	}

	private <T> T callAt(String key, Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command) {
		return exchange(key, (connection) -> List.of(command.apply(connection.commands()))).get(0);
	}

	@SuppressWarnings("unchecked")
	private <T> T callAndWait(String key, ReplicaWait wait,
			Function<RedisClusterAsyncCommands<String, V>, RedisFuture<T>> command) {
		List<Object> answers = exchange(key, (connection) -> {
			RedisClusterAsyncCommands<String, V> node = connection.commandsAt(key, this.timeout);
			RedisFuture<?> answer = command.apply(node);
			RedisFuture<?> replicas = node.waitForReplication(wait.replicas(), wait.timeout().toMillis());
			return List.of((RedisFuture<Object>) answer, (RedisFuture<Object>) replicas);
		});
		wait.check((Long) answers.get(1));
		return (T) answers.get(0);
	}

	private static <T> T byHashFirst(LuaScript script, List<String> keys, Supplier<T> byHash, Supplier<T> byText) {
		try {
			try {
				return byHash.get();
			}
			catch (StoreUnavailableException ex) {
				if (!isUnknownScript(ex)) {
					throw ex;
				}
				return byText.get();
			}
		}
		catch (StoreUnavailableException ex) {
			throw MissingRight.named(ex, script, keys);
		}
	}

	private static boolean isUnknownScript(StoreUnavailableException failure) {
		return failure.getCause() instanceof RedisNoScriptException;
	}

	/** After a failover, neither client nor connection may know that it took place. */
	private void mastersMayHaveChanged(RuntimeException failure, @Nullable Connection<V> on) {
		String message = String.valueOf(failure.getMessage());
		if (!(failure instanceof RedisCommandExecutionException) || NOT_SERVED_HERE.matcher(message).find()) {
			this.connector.suspectTopology();
		}
		if (message.contains(REPLICA_ERROR) && on != null) {
			this.connection.discard(on);
		}
	}

	/** What Redis refuses, with the key or the right that it is about. */
	static RedisException named(RedisException failure, @Nullable Object command) {
		return MissingRight.named(MisplacedKey.named(failure, command), command);
	}

	/**
	 * Whether a failure is an error that Redis has answered with: then the command was
	 * not carried out.
	 * @param failure what a call has thrown
	 * @return whether it was not
	 */
	public static boolean isError(StoreUnavailableException failure) {
		return failure.getCause() instanceof RedisCommandExecutionException;
	}

	/**
	 * Whether a failure is Redis' own answer to what it was asked, rather than the
	 * absence of a Redis that can answer.
	 * @param failure what a call has thrown
	 * @return whether asking again would change nothing
	 */
	public static boolean isRefusal(StoreUnavailableException failure) {
		return isRefusal(failure.getCause());
	}

	/**
	 * Waits for an answer. On a Cluster, one that was asked of a node that has died never
	 * comes: not waited for any longer once another node serves the slot.
	 */
	private static <T> T await(RedisFuture<T> future, long deadline, @Nullable BooleanSupplier servedElsewhere)
			throws InterruptedException, ExecutionException, TimeoutException {
		while (true) {
			long left = Math.max(0, deadline - System.nanoTime());
			long patience = (servedElsewhere != null) ? Math.min(left, PATIENCE_WITH_A_NODE_NANOS) : left;
			try {
				return future.get(patience, TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				if (servedElsewhere == null || patience == left) {
					throw ex;
				}
				if (servedElsewhere.getAsBoolean()) {
					throw new RedisException("another node serves the slot now", ex);
				}
			}
		}
	}

	private <T> List<T> await(List<RedisFuture<T>> futures, Connection<V> on, @Nullable BooleanSupplier servedElsewhere,
			Duration patience) {
		long deadline = System.nanoTime() + patience.toNanos();
		List<T> answers = new ArrayList<>(futures.size());
		try {
			for (RedisFuture<T> future : futures) {
				answers.add(await(future, deadline, servedElsewhere));
			}
			return answers;
		}
		catch (RedisException ex) {
			futures.forEach((future) -> future.cancel(true));
			throw ex;
		}
		catch (ExecutionException ex) {
			futures.forEach((future) -> future.cancel(true));
			if (ex.getCause() instanceof RedisException redis) {
				// That of the first one that there is no answer of.
				throw named(redis, futures.get(answers.size()));
			}
			throw new RedisException(ex.getCause());
		}
		catch (CancellationException ex) {
			// Another thread found the connection dead and closed it.
			throw new RedisException("the connection was closed while waiting for an answer", ex);
		}
		catch (TimeoutException ex) {
			// What is cancelled is not sent (again) after a reconnect.
			futures.forEach((future) -> future.cancel(true));
			this.connection.answered(on, false);
			throw new RedisException("no answer within " + patience.toMillis() + " ms", ex);
		}
		catch (InterruptedException ex) {
			futures.forEach((future) -> future.cancel(true));
			Thread.currentThread().interrupt();
			throw new RedisException("interrupted while waiting for an answer", ex);
		}
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
