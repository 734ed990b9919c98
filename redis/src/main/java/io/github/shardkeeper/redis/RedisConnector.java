package io.github.shardkeeper.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ApplicationContextEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.ContextStartedEvent;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Opens connections to the Redis of Spring's connection factory, configured by
 * {@code spring.data.redis.*}. The application uses none of them, and its timers and
 * traces of commands do not see them. Thread-safe.
 */
public final class RedisConnector implements SmartLifecycle, ApplicationListener<ApplicationContextEvent>,
		ApplicationContextAware, DisposableBean {

	private static final Logger logger = PrintableLogger.of(RedisConnector.class);

	/** Stops after the consumers, and before a lent client at phase 0. */
	private static final int PHASE = 1;

	private static final RedisCodec<String, byte[]> DATA_CODEC = RedisCodec.of(StringCodec.UTF8,
			ByteArrayCodec.INSTANCE);

	/** Time limit of replies for data; one for all, so that they share a connection. */
	public static final Duration DATA_TIMEOUT = Duration.ofSeconds(5);

	/** Enough, because no task waits for another task or for more than a few replies. */
	private static final int BACKGROUND_THREADS = 4;

	private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

	private final Set<CompletableFuture<Void>> closing = ConcurrentHashMap.newKeySet();

	private final LettuceConnectionFactory factory;

	private final OwnClient client;

	private final ConnectionOpener opener = new ConnectionOpener();

	private final Executor background = threads("shardkeeper-background");

	private final Set<StatefulConnection<?, ?>> connections = ConcurrentHashMap.newKeySet();

	/** By time limit; an application has one. */
	private final Map<Duration, RedisLink<byte[]>> dataLinks = new ConcurrentHashMap<>();

	/** For the first subscription; nobody subscribes on it before. */
	private final AtomicReference<@Nullable CompletableFuture<StatefulRedisPubSubConnection<String, String>>> pubSubAhead = new AtomicReference<>();

	private final RefusedOperations refusedOperations = new RefusedOperations();

	private final ScriptTimes scriptTimes = new ScriptTimes();

	private final ServerCheck serverCheck = new ServerCheck(this, InstantSource.system(), ServerCheck.INTERVAL);

	/** For the client that was used last. */
	private volatile @Nullable ClusterTopology topology;

	private volatile boolean running;

	private volatile StartupTimeout startupTimeout = StartupTimeout.NONE;

	private volatile @Nullable ApplicationContext context;

	/** Creates a connector with the options of the application's client. */
	public RedisConnector(RedisConnectionFactory factory) {
		this(factory, List.of());
	}

	/**
	 * Creates a connector.
	 * @param factory the application's connection factory
	 * @param customizers change the options of its client for the own one
	 * @throws ShardkeeperConfigurationException when it is not Lettuce's, or its client
	 * has to be used and stops too early
	 */
	public RedisConnector(RedisConnectionFactory factory, List<Consumer<ClientOptions.Builder>> customizers) {
		if (!(factory instanceof LettuceConnectionFactory lettuce)) {
			boolean jedis = factory.getClass().getSimpleName().startsWith("Jedis");
			throw new ShardkeeperConfigurationException(
					"Shardkeeper needs the Lettuce client, but the RedisConnectionFactory bean is a %s."
						.formatted(factory.getClass().getName()),
					"Define a LettuceConnectionFactory bean for Shardkeeper, with @ShardkeeperRedis and "
							+ "@Bean(defaultCandidate = false); the application keeps its client."
							+ (jedis ? " Or set 'spring.data.redis.client-type: lettuce'." : ""));
		}
		this.factory = lettuce;
		this.client = new OwnClient(lettuce, customizers);
		if (this.client.isLent() && !customizers.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"There is a RedisClientOptionsCustomizer bean, but Shardkeeper cannot create a client of its own from the RedisConnectionFactory bean, a %s, and uses its client."
						.formatted(lettuce.getClass().getName()),
					"Set the options on that factory and remove the customizer, or define a plain LettuceConnectionFactory bean.");
		}
		if (this.client.isLent() && lettuce.getPhase() > PHASE) {
			throw new ShardkeeperConfigurationException(
					"The RedisConnectionFactory bean, a %s, stops before the consumers: its phase is %d."
						.formatted(lettuce.getClass().getName(), lettuce.getPhase()),
					"Call setPhase(0) on it, or define a plain LettuceConnectionFactory bean, whose phase does not "
							+ "matter: Shardkeeper cannot create a client of its own for this one.");
		}
	}

	/** Logs which of several beans the connection factory is. */
	public void reportChoice(String bean, Collection<String> all) {
		logger.info("Shardkeeper uses the Redis of the bean '{}', one of {}", bean, all);
	}

	/** Returns whether this is a Redis Cluster. */
	public boolean isCluster() {
		return this.factory.isClusterAware();
	}

	boolean isSentinel() {
		return this.factory.isRedisSentinelAware();
	}

	/**
	 * {@return the operations that Redis refuses, of all users of this connector}
	 */
	public RefusedOperations refusedOperations() {
		return this.refusedOperations;
	}

	/**
	 * {@return the check of the servers, which runs while this connector does}
	 */
	public ServerCheck serverCheck() {
		return this.serverCheck;
	}

	/**
	 * Sets who receives the name of each script that Redis has answered, and the time
	 * from the call to the reply, on any thread; must neither block nor throw.
	 */
	public void onScriptAnswered(BiConsumer<String, Duration> listener) {
		this.scriptTimes.onReply(listener);
	}

	ScriptTimes scriptTimes() {
		return this.scriptTimes;
	}

	RedisException noConnection(Duration timeout, @Nullable Throwable cause) {
		String hint = this.factory.isUseSsl()
				? "; a server without TLS does not reply to a client with 'spring.data.redis.ssl.enabled: true'" : "";
		return new RedisException("no connection within " + timeout.toMillis() + " ms" + hint, cause);
	}

	/**
	 * Creates a pool of its own: blocking calls in the common pool delay failovers, and a
	 * task that waits for others of its pool may wait for ever.
	 * @param name the name of its threads, which end when they are idle
	 * @return the pool
	 */
	public static Executor threads(String name) {
		ThreadPoolExecutor threads = new ThreadPoolExecutor(BACKGROUND_THREADS, BACKGROUND_THREADS, 30,
				TimeUnit.SECONDS, new LinkedBlockingQueue<>(), (task) -> {
					Thread thread = new Thread(task, name);
					thread.setDaemon(true);
					return thread;
				});
		threads.allowCoreThreadTimeOut(true);
		return threads;
	}

	Executor background() {
		return this.background;
	}

	/**
	 * {@return the shared link for checkpoints and records; callers do not close it}
	 */
	public RedisLink<byte[]> dataLink(Duration timeout) {
		return this.dataLinks.computeIfAbsent(timeout, (limit) -> new RedisLink<>(this, DATA_CODEC, limit));
	}

	/**
	 * Begins to open the connection of {@link #dataLink} and does not wait for it: the
	 * first connection of a process takes a third of a second, because the client loads
	 * its classes. A failure is reported only to calls that wait for this attempt; later
	 * calls begin another one.
	 */
	public void connectAhead() {
		dataLink(DATA_TIMEOUT).connectAhead();
	}

	/**
	 * Begins to open the connection of the first subscription and does not wait for it.
	 * If that fails, the subscription connects itself. A connection without a
	 * subscription is closed once the application has started.
	 */
	public void connectPubSubAhead() {
		CompletableFuture<StatefulRedisPubSubConnection<String, String>> opening = this.opener
			.begin(() -> connectPubSub(this.client.get()), this::close);
		giveUp(this.pubSubAhead.getAndSet(opening));
	}

	private void giveUp(@Nullable CompletableFuture<? extends StatefulConnection<?, ?>> opening) {
		if (opening != null && !opening.cancel(false)) {
			opening.thenAccept(this::close);
		}
	}

	/**
	 * Opens a connection, which the caller closes; blocks until it is open.
	 * @throws io.lettuce.core.RedisException when Redis cannot be reached in time
	 */
	public <V> Connection<V> open(RedisCodec<String, V> codec, Duration timeout) {
		return open(() -> connect(codec), (late) -> close(late.stateful()), timeout);
	}

	private <C> C open(Supplier<C> connect, Consumer<C> closeLate, Duration timeout) {
		return ConnectionOpener.await(this.opener.begin(connect, closeLate), closeLate, timeout,
				(cause) -> noConnection(timeout, cause));
	}

	/** Begins to connect; the limit is for replies. Completing the future gives up. */
	<V> CompletableFuture<Connection<V>> begin(RedisCodec<String, V> codec, Duration timeout) {
		return this.opener.begin(() -> {
			Connection<V> connection = connect(codec);
			connection.stateful().setTimeout(timeout);
			return connection;
		}, (late) -> close(late.stateful()));
	}

	/**
	 * Opens a connection for subscriptions, which the caller closes; on a Cluster at the
	 * master of the channel's slot, where scripts count its subscribers.
	 * @throws io.lettuce.core.RedisException when Redis cannot be reached in time
	 */
	PubSubConnection openPubSub(String channel, Duration timeout) {
		// A frozen node delays the refresh; the connection needs the rest of the time.
		Duration longestRefresh = timeout.dividedBy(2);
		return open(() -> connectPubSub(channel, longestRefresh), (late) -> close(late.toClose()), timeout);
	}

	/**
	 * Reads {@code SENTINEL MASTER} from the first Sentinel that accepts the connection.
	 * Does not wait; the limit is for the reply, connecting has the client's own limits.
	 */
	CompletableFuture<Map<String, String>> askSentinel(Duration timeout) {
		return this.opener.begin(() -> {
			RedisSentinelConfiguration sentinels = Objects.requireNonNull(this.factory.getSentinelConfiguration());
			NamedNode master = Objects.requireNonNull(sentinels.getMaster());
			StatefulRedisSentinelConnection<String, String> sentinel = opened(
					((RedisClient) this.client.get()).connectSentinel(StringCodec.UTF8));
			try {
				sentinel.setTimeout(timeout);
				return sentinel.sync().master(String.valueOf(master.getName()));
			}
			finally {
				close(sentinel);
			}
		}, (late) -> {
		});
	}

	/** Refreshes the topology of a Cluster after an unanswered command; does not wait. */
	public void refreshTopology() {
		try {
			if (this.client.find() instanceof RedisClusterClient cluster) {
				topology(cluster).refresh();
			}
		}
		catch (IllegalStateException ex) {
			// The factory is being stopped.
			logger.debug("Cannot refresh the topology of the Cluster", ex);
		}
	}

	/**
	 * Returns a check whether another node than now serves a key's slot; {@code null}
	 * without a Cluster. Each check begins a refresh, without waiting for it.
	 */
	@Nullable BooleanSupplier watchMaster(String key) {
		if (!(this.client.find() instanceof RedisClusterClient cluster)) {
			return null;
		}
		ClusterTopology known = topology(cluster);
		String before = known.knownMaster(key);
		return () -> {
			known.refresh();
			return before != null && !before.equals(Objects.requireNonNullElse(known.knownMaster(key), before));
		};
	}

	private ClusterTopology topology(RedisClusterClient client) {
		ClusterTopology current = this.topology;
		if (current == null || !current.belongsTo(client)) {
			current = new ClusterTopology(client, this.background);
			this.topology = current;
		}
		return current;
	}

	private <V> Connection<V> connect(RedisCodec<String, V> codec) {
		AbstractRedisClient client = this.client.get();
		if (client instanceof RedisClusterClient cluster) {
			StatefulRedisClusterConnection<String, V> connection = opened(cluster.connect(codec));
			return new Connection<>(connection, connection.async());
		}
		StatefulRedisConnection<String, V> connection = opened(
				connectSingle(() -> ((RedisClient) client).connect(codec)));
		return new Connection<>(connection, connection.async());
	}

	private PubSubConnection connectPubSub(String channel, Duration longestRefresh) {
		AbstractRedisClient client = this.client.get();
		if (client instanceof RedisClusterClient cluster) {
			ClusterTopology known = topology(cluster);
			String master = known.findMaster(channel, longestRefresh);
			StatefulRedisPubSubConnection<String, String> connection = takePubSub(client);
			try {
				return new PubSubConnection(connection,
						((StatefulRedisClusterPubSubConnection<String, String>) connection).getConnection(master),
						() -> Objects.requireNonNullElse(known.knownMaster(channel), master).equals(master));
			}
			catch (RuntimeException ex) {
				close(connection);
				throw ex;
			}
		}
		StatefulRedisPubSubConnection<String, String> connection = takePubSub(client);
		return new PubSubConnection(connection, connection, () -> true);
	}

	/** Returns the connection that was opened ahead if it is usable, or a new one. */
	private StatefulRedisPubSubConnection<String, String> takePubSub(AbstractRedisClient client) {
		CompletableFuture<StatefulRedisPubSubConnection<String, String>> ahead = this.pubSubAhead.getAndSet(null);
		if (ahead != null) {
			try {
				StatefulRedisPubSubConnection<String, String> connection = ahead.join();
				if (connection.isOpen()) {
					return connection;
				}
			}
			catch (CompletionException | CancellationException ex) {
				logger.debug("Cannot use the connection that was opened ahead", ex);
			}
		}
		return connectPubSub(client);
	}

	private StatefulRedisPubSubConnection<String, String> connectPubSub(AbstractRedisClient client) {
		return opened((client instanceof RedisClusterClient cluster) ? cluster.connectPubSub(StringCodec.UTF8)
				: connectSingle(() -> ((RedisClient) client).connectPubSub(StringCodec.UTF8)));
	}

	/** Names the property for a client of static master/replica addresses. */
	private static <C> C connectSingle(Supplier<C> connect) {
		try {
			return connect.get();
		}
		catch (IllegalStateException ex) {
			if (!String.valueOf(ex.getMessage()).contains("RedisURI is not available")) {
				throw ex;
			}
			throw new ShardkeeperConfigurationException(
					"The RedisConnectionFactory has no address of a single Redis, a Sentinel or a Cluster: "
							+ ex.getMessage(),
					"Use 'spring.data.redis.host', 'url', 'sentinel.*' or 'cluster.*'; "
							+ "'spring.data.redis.masterreplica.*' is not supported.",
					ex);
		}
	}

	private <C extends StatefulConnection<?, ?>> C opened(C connection) {
		this.connections.add(connection);
		if (!isCluster()) {
			// Lettuce would reconnect and resend unanswered commands, long after their
			// caller has given up. A new connection leaves that to the caller.
			connection.addListener(new RedisConnectionStateListener() {
				@Override
				public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
					close(connection);
				}
			});
		}
		return connection;
	}

	/** Closes a connection; does not wait. Harmless for one that was closed before. */
	public void close(StatefulConnection<?, ?> connection) {
		if (this.connections.remove(connection)) {
			CompletableFuture<Void> closed = connection.closeAsync();
			this.closing.add(closed);
			closed.whenComplete((nothing, failure) -> this.closing.remove(closed));
		}
	}

	StartupTimeout startupTimeout() {
		return this.startupTimeout;
	}

	@Override
	public void start() {
		this.running = true;
		this.startupTimeout = StartupTimeout.begin();
		this.serverCheck.start();
	}

	@Override
	public void setApplicationContext(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * All beans have started, or were started again: ends the limit, and closes what
	 * nobody needs. Child contexts publish their events here, too.
	 */
	@Override
	public void onApplicationEvent(ApplicationContextEvent event) {
		boolean started = event instanceof ContextRefreshedEvent || event instanceof ContextStartedEvent;
		if (started && event.getApplicationContext() == this.context) {
			this.startupTimeout = StartupTimeout.NONE;
			giveUp(this.pubSubAhead.getAndSet(null));
		}
	}

	/** Closes all connections; a later call opens a new one. */
	@Override
	public void stop() {
		this.running = false;
		this.serverCheck.stop();
		this.startupTimeout = StartupTimeout.NONE;
		giveUp(this.pubSubAhead.getAndSet(null));
		ClusterTopology known = this.topology;
		if (known != null) {
			known.stop();
		}
		for (StatefulConnection<?, ?> connection : this.connections) {
			if (this.connections.remove(connection)) {
				// Waits: the client, which is shut down next, warns of open connections.
				connection.close();
			}
		}
		// It warns of connections that are still being closed, too.
		CompletableFuture.allOf(this.closing.toArray(CompletableFuture[]::new))
			.completeOnTimeout(null, LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS)
			.exceptionally((failure) -> null)
			.join();
		this.client.stop();
	}

	/** Closes what was opened, or is being opened, ahead of a start that has failed. */
	@Override
	public void destroy() {
		this.dataLinks.values().forEach(RedisLink::close);
		stop();
		this.client.close();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * An open connection.
	 *
	 * @param stateful the connection, to configure and close it
	 * @param commands the commands that a single Redis and a Cluster have
	 */
	public record Connection<V>(StatefulConnection<String, V> stateful, RedisClusterAsyncCommands<String, V> commands) {

		/**
		 * Sends on it.
		 * @throws RedisException if that fails, also because another thread has closed it
		 * @throws IllegalStateException if its client is being stopped
		 */
		public <T> T send(Function<Connection<V>, T> sending) {
			try {
				return sending.apply(this);
			}
			catch (NullPointerException ex) {
				if (this.stateful.isOpen()) {
					throw ex;
				}
				// That is what a connection to a Cluster throws once it is closed.
				throw new RedisException("the connection was closed meanwhile", ex);
			}
		}

		/**
		 * Returns the commands on the node connection that serves a key: {@code WAIT}
		 * depends on its earlier commands. Redirections are not followed.
		 */
		RedisClusterAsyncCommands<String, V> commandsAt(String key, Duration timeout) {
			if (!(this.stateful instanceof StatefulRedisClusterConnection<String, V> cluster)) {
				return this.commands;
			}
			RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
			if (master == null) {
				throw new RedisException("no master is known for the slot of " + key);
			}
			return commandsAt(cluster, master, timeout);
		}

		/** Returns the commands on each master that serves slots. */
		List<RedisClusterAsyncCommands<String, V>> commandsOfMasters(Duration timeout) {
			if (!(this.stateful instanceof StatefulRedisClusterConnection<String, V> cluster)) {
				return List.of(this.commands);
			}
			return cluster.getPartitions()
				.stream()
				.filter((node) -> node.is(RedisClusterNode.NodeFlag.UPSTREAM) && !node.getSlots().isEmpty())
				.map((master) -> commandsAt(cluster, master, timeout))
				.toList();
		}

		private static <V> RedisClusterAsyncCommands<String, V> commandsAt(
				StatefulRedisClusterConnection<String, V> cluster, RedisClusterNode master, Duration timeout) {
			// A late node connection is closed with the Cluster's connection.
			return BlockingWait
				.on(cluster.getConnectionAsync(master.getNodeId()), timeout,
						(cause) -> new RedisException("no connection within " + timeout.toMillis() + " ms", cause))
				.async();
		}

	}

	/**
	 * An open connection for subscriptions.
	 *
	 * @param toClose the connection to close
	 * @param isAtMaster returns whether its node still serves the channel's slot, as far
	 * as the client knows
	 */
	record PubSubConnection(StatefulConnection<String, String> toClose,
			StatefulRedisPubSubConnection<String, String> connection, BooleanSupplier isAtMaster) {

	}

}
