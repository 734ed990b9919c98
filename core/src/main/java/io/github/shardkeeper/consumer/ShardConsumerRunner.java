package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.handler.HandlerDetection;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ListedShards;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Runs the application's handlers: one reader for each source, and one worker for each
 * shard of the instance. It starts after the web server, so that the server replies
 * before the first record is handled. It stops before the web server, while the
 * connections to Redis are open. Beans in later phases, including the default phase,
 * start after it and stop before it. Thread-safe.
 */
public final class ShardConsumerRunner implements SmartLifecycle {

	/** After the web server at start, before it at stop. */
	public static final int PHASE = DEFAULT_PHASE - 512;

	private static final Logger logger = PrintableLogger.of(ShardConsumerRunner.class);

	private static final String RESCUE = "shardkeeper-rescue";

	private static final String COMPARISON = "shardkeeper-commit-comparison";

	private static final String PAUSED = "The application has paused the topic on this instance (ShardConsumers.pause)";

	private static final Duration RESCUE_PERIOD = Duration.ofSeconds(1);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final ShardCoordinator coordinator;

	private final SettingsAgreement agreement;

	private final SourceRegistry sources;

	private final StartPositions startPositions;

	private final CheckpointStore checkpoints;

	private final Lease lease;

	private final MemberRuntime runtime;

	private final ConsumerRuntime threads;

	private final Settings settings;

	private final StateValues stateValues;

	private final ConsumerMeters meters;

	private final ConsumerEvents events;

	private final OutputSettings outputs;

	private final Duration stopTimeout;

	private final ConsumerStates states;

	private final ConsumedHandlers handlers;

	/**
	 * Guards changes of the handlers, and a start. Never held while calls are awaited,
	 * which may change them.
	 */
	private final Object changes = new Object();

	/** Results of removals whose shards have not ended, by topic. */
	private final Map<String, CompletableFuture<Void>> removals = new ConcurrentHashMap<>();

	private volatile @Nullable Running running;

	/** Whether it was started without handlers: the first one starts the rest. */
	private volatile boolean idle;

	/** Whether it was started once: from then on it starts with its context. */
	private volatile boolean startedBefore;

	/** Topics that this instance consumes, including broadcast topics. */
	private volatile Set<String> consumed = Set.of();

	/** Workers of the last run; some may not have ended. */
	private @Nullable ShardWorkers earlierWorkers;

	private @Nullable ShardWorkers earlierBroadcast;

	/**
	 * Creates a runner that is not started.
	 * @param agreement reached before anything is consumed
	 * @param startPositions the start positions of shards that have no offset
	 * @param lease the lease; without it nothing is consumed
	 * @param threads the threads that handlers run on, and the clock on the wall
	 * @param outputs where the records go that handlers send as parts of their calls
	 * @param stopTimeout the maximum duration of a stop
	 */
	public ShardConsumerRunner(ShardCoordinator coordinator, SettingsAgreement agreement, HandlerDetection detector,
			SourceRegistry sources, StartPositions startPositions, CheckpointStore checkpoints, Lease lease,
			MemberRuntime runtime, ConsumerRuntime threads, Settings settings, StateValues stateValues,
			ConsumerMeters meters, ConsumerEvents events, OutputSettings outputs, Duration stopTimeout) {
		this.coordinator = coordinator;
		this.agreement = agreement;
		this.handlers = new ConsumedHandlers(detector, sources);
		this.sources = sources;
		this.startPositions = startPositions;
		this.checkpoints = checkpoints;
		this.lease = lease;
		this.runtime = runtime;
		this.threads = threads;
		this.settings = settings;
		this.stateValues = stateValues;
		this.meters = meters;
		this.events = events;
		this.outputs = outputs;
		this.stopTimeout = stopTimeout;
		this.states = new ConsumerStates(settings.autoStartup());
	}

	/**
	 * Finds and checks the handlers without starting.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if one is not
	 * supported
	 */
	public Map<String, ShardHandler> checkedHandlers() {
		synchronized (this.changes) {
			Map<String, ShardHandler> found = this.handlers.find();
			found.forEach(this::check);
			return found;
		}
	}

	/** Returns the handlers by topic, without those of beans before they were found. */
	public Map<String, ShardHandler> handlers() {
		return this.handlers.current();
	}

	/** One start or stop at a time: an operator may stop while the context closes. */
	@Override
	public synchronized void start() {
		this.startedBefore = true;
		synchronized (this.changes) {
			Map<String, ShardHandler> handlers = checkedHandlers();
			this.idle = handlers.isEmpty();
			if (this.idle) {
				logger.info("No @ShardConsumer method: this instance does not join group '{}'",
						this.coordinator.settings().group());
				return;
			}
			start(handlers);
		}
	}

	private void start(Map<String, ShardHandler> handlers) {
		ShardReaders readers = new ShardReaders(this.sources.having(handlers.keySet()), this.sources::name,
				this.startPositions, this.runtime.clock());
		ConsumerRuntime.Running runningThreads = this.threads.start();
		WorkerContext context = workerContext(runningThreads, readers);
		handlers.keySet().forEach(context::meters);
		Map<String, ShardHandler> broadcast = new TreeMap<>(handlers);
		broadcast.keySet().retainAll(this.settings.broadcastTopics());
		Map<String, ShardHandler> coordinated = new TreeMap<>(handlers);
		coordinated.keySet().removeAll(broadcast.keySet());
		SessionWatch session = new SessionWatch(this.coordinator::member, this.events);
		ShardWorkers workers = new ShardWorkers(coordinated, context, session, runningThreads.preparing(), this.states,
				null, this.earlierWorkers);
		workers.onWriteBack(() -> recordConsumption(context, this.consumed));
		BroadcastConsumption broadcastConsumption = new BroadcastConsumption(broadcast, context, session,
				runningThreads, this.coordinator.settings().instance(), this.states, this.earlierBroadcast);
		// Without a coordinator these loops have to keep the process running.
		readers.startLoops(this.runtime.loops(), coordinated.isEmpty());
		Loops.Loop rescueLoop = this.runtime.loops().start(RESCUE, () -> {
			workers.rescue();
			broadcastConsumption.workers().rescue();
			// An own source is asked for problems here: last, because it may hang.
			this.coordinator.shareProblems(texts(problems(workers, readers), workers.shards()));
			return this.runtime.clock().now().plus(RESCUE_PERIOD);
		});
		Running current = new Running(workers, broadcastConsumption, !coordinated.isEmpty(), context, readers,
				rescueLoop, runningThreads);
		compareCommits(current, coordinated.keySet());
		this.running = current;
		this.consumed = Set.copyOf(handlers.keySet());
		try {
			begin(current, handlers);
		}
		catch (RuntimeException | Error ex) {
			shutDown(current);
			throw ex;
		}
	}

	/** Compares commits with the application's database, if it has those of a topic. */
	private void compareCommits(Running current, Set<String> coordinated) {
		if (current.comparison == null
				&& coordinated.stream().anyMatch((topic) -> this.checkpoints.transactions(topic) != null)) {
			current.comparison = this.runtime.loops()
				.start(COMPARISON, new CommitComparison(current.workers, this.runtime.clock())::step);
		}
	}

	/** Joins the group, and watches for changes of shards from then on. */
	private void begin(Running current, Map<String, ShardHandler> handlers) {
		Runnable onChange = () -> shardsChanged(current);
		this.agreement.begin(handlers.keySet(), onChange);
		if (this.threads.warmsUp()) {
			WarmUp.begin(current.context, this.settings.consumers().apply(handlers.keySet().iterator().next()));
		}
		warmUp(handlers.keySet());
		if (current.coordinated) {
			this.coordinator.start(topics(current.workers.handlers()), current.workers);
		}
		watch(current);
		// Changes between the start of the coordinator and now.
		onChange.run();
	}

	/** Watches the sources of all handlers that there are now. */
	private void watch(Running current) {
		ShardSource.Watch before = current.watch;
		current.watch = this.sources.watch(this.handlers.current().keySet(), () -> shardsChanged(current));
		if (before != null) {
			before.close();
		}
	}

	/**
	 * Adds the handlers of an object, and consumes their topics if this runner is
	 * started.
	 * @param topic the topic of its only handler; {@code null} for those that the
	 * annotations name
	 * @return the topics
	 */
	Set<String> register(Object bean, @Nullable String topic) {
		Map<String, ShardHandler> added = this.handlers.of(bean, topic);
		added.forEach(this::check);
		synchronized (this.changes) {
			added.keySet().forEach(this::requireRemoved);
			this.handlers.register(added);
			added.keySet().forEach(this.states::reset);
			Running current = this.running;
			if (current != null && !current.stopping) {
				try {
					add(current, added);
				}
				catch (RuntimeException | Error ex) {
					leave(current, added.keySet());
					this.handlers.remove(added.keySet());
					throw ex;
				}
			}
		}
		startIfIdle(added.keySet());
		return Set.copyOf(added.keySet());
	}

	private void requireRemoved(String topic) {
		if (this.removals.containsKey(topic)) {
			throw new IllegalStateException(
					"The handler of the topic '%s' was removed, and not all of its shards have ended on this instance: register the next one when the result of ShardConsumers.remove has completed"
						.formatted(topic));
		}
	}

	private void add(Running current, Map<String, ShardHandler> added) {
		Set<String> topics = added.keySet();
		current.readers.add(this.runtime.loops(), this.sources.having(topics));
		this.agreement.extend(this.handlers.current().keySet());
		this.consumed = Set.copyOf(this.handlers.current().keySet());
		warmUp(topics);
		topics.forEach(current.context::meters);
		Map<String, ShardHandler> coordinated = new TreeMap<>(added);
		coordinated.keySet().removeAll(this.settings.broadcastTopics());
		Map<String, ShardHandler> broadcast = new TreeMap<>(added);
		broadcast.keySet().retainAll(this.settings.broadcastTopics());
		current.broadcast.workers().add(broadcast);
		current.workers.add(coordinated);
		compareCommits(current, coordinated.keySet());
		if (!coordinated.isEmpty() && !current.coordinated) {
			this.coordinator.start(topics(current.workers.handlers()), current.workers);
			current.coordinated = true;
		}
		watch(current);
		shardsChanged(current);
	}

	/** Not while a stop waits for calls: one of them may be the caller. */
	private void startIfIdle(Set<String> registered) {
		if (!this.idle) {
			return;
		}
		synchronized (this) {
			if (this.idle) {
				try {
					start();
				}
				catch (RuntimeException | Error ex) {
					synchronized (this.changes) {
						this.handlers.remove(registered);
						this.idle = true;
					}
					throw ex;
				}
			}
		}
	}

	/**
	 * Removes the handler of a topic.
	 * @return completes on a thread that calls handlers; that of the first call, while
	 * its shards have not ended
	 * @throws IllegalArgumentException if the topic has none
	 */
	CompletableFuture<Void> remove(String topic) {
		CompletableFuture<Void> removal = new CompletableFuture<>();
		Running current;
		synchronized (this.changes) {
			CompletableFuture<Void> begun = this.removals.get(topic);
			if (begun != null) {
				return begun.copy();
			}
			requireHandler(topic);
			this.handlers.remove(Set.of(topic));
			current = this.running;
			if (current == null) {
				return CompletableFuture.completedFuture(null);
			}
			this.removals.put(topic, removal);
		}
		try {
			synchronized (this.changes) {
				leave(current, Set.of(topic));
				if (!current.stopping) {
					watch(current);
				}
			}
		}
		finally {
			// Also if a source throws: the topic would never have a handler again.
			awaitRemoval(current, topic, removal);
		}
		return removal.copy();
	}

	/** Takes no part in some topics any more: their shards end. */
	private void leave(Running current, Set<String> topics) {
		Set<String> remaining = new TreeSet<>(this.handlers.current().keySet());
		remaining.removeAll(topics);
		this.consumed = Set.copyOf(remaining);
		topics.forEach((topic) -> {
			current.workers.remove(topic);
			current.broadcast.workers().remove(topic);
		});
		this.agreement.reduce(remaining);
		shardsChanged(current);
	}

	/** No worker begins any more: without a handler, a shard is given back at once. */
	private void awaitRemoval(Running current, String topic, CompletableFuture<Void> removal) {
		current.ended(topic).thenRun(() -> {
			this.removals.remove(topic, removal);
			execute(() -> removal.complete(null));
		});
	}

	void requireHandler(String topic) {
		Set<String> known = handlers().keySet();
		if (!known.contains(topic)) {
			throw new IllegalArgumentException("No @ShardConsumer method of this instance consumes the topic '%s': %s"
				.formatted(topic, known.isEmpty() ? "it has none, or its application context has not started yet"
						: "it has handlers of " + new TreeSet<>(known)));
		}
	}

	/**
	 * Passes on the shards of the topics that this instance takes part in: one thread at
	 * a time, because the last one that does has to be the last one that has read them.
	 */
	private void shardsChanged(Running current) {
		synchronized (current) {
			if (current.coordinated) {
				Map<String, TopicShards> topics = topics(current.workers.handlers());
				this.coordinator.shardsChanged(topics);
				listed(topics.keySet());
			}
			if (this.agreement.isReached()) {
				current.broadcast.shardsChanged(topics(current.broadcast.workers().handlers()));
			}
		}
	}

	ConsumerStates states() {
		return this.states;
	}

	/** Changes the state of a topic that has a handler. Does not wait for anything. */
	void change(String topic, State state) {
		this.states.set(topic, state);
		Running current = this.running;
		if (current != null) {
			if (state != State.STOPPED) {
				recordConsumption(current.context, Set.of(topic));
			}
			current.workers.statesChanged();
			current.broadcast.workers().statesChanged();
			shardsChanged(current);
		}
	}

	/**
	 * Runs a task of the application on a thread that calls handlers, so that it does not
	 * keep those that end shards; on this one if these threads have ended.
	 */
	void execute(Runnable task) {
		Running current = this.running;
		try {
			if (current != null) {
				current.context.executor().execute(task);
				return;
			}
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The threads for handlers have ended", ex);
		}
		task.run();
	}

	/**
	 * Returns a future that completes once all current workers of a topic have ended.
	 */
	CompletableFuture<Void> ended(String topic) {
		Running current = this.running;
		return (current != null) ? current.ended(topic) : CompletableFuture.completedFuture(null);
	}

	private WorkerContext workerContext(ConsumerRuntime.Running running, ShardReaders readers) {
		return new WorkerContext(this.coordinator.settings().group(),
				new WorkerContext.Stores(this.checkpoints, readers, this.outputs),
				new WorkerContext.Runtime(this.runtime.clock(), this.threads.wallClock(), running.executor(),
						running.timer()),
				new WorkerContext.Topics(this.settings.consumers(), new BufferBudget(this.settings.totalBufferBytes()),
						new StateCache(this.settings.stateCacheBytes()), this.stateValues),
				new WorkerContext.Observers(this.meters, this.events, this.coordinator.consumptionListener(),
						this.coordinator.measuresLoads()),
				this.lease);
	}

	private void check(String topic, ShardHandler handler) {
		ConsumerSettings consumer = this.settings.consumers().apply(topic);
		if (this.checkpoints.transactions(topic) != null) {
			// First: what the others advise may be what a transaction does not permit.
			consumer.checkTransacted(handler);
		}
		consumer.check(handler);
		consumer.check(handler, this.checkpoints);
		consumer.checkOutput(handler, this.settings.broadcastTopics().contains(topic),
				handler.takesOutput() && this.checkpoints.keepsOutboxes(topic));
		consumer.checkTimers(handler, this.settings.broadcastTopics().contains(topic),
				handler.hasTimers() && this.checkpoints.keepsTimers(topic));
	}

	/**
	 * Returns the topics that have a handler and are not stopped. A handler without
	 * records never reaches the end of a shard, so its shards do not wait for parents.
	 */
	private Map<String, TopicShards> topics(Map<String, ShardHandler> handlers) {
		Map<String, TopicShards> topics = new TreeMap<>(this.sources.topics());
		topics.keySet().retainAll(this.states.takingPart(handlers.keySet()));
		handlers.forEach((topic, handler) -> {
			if (handler.shape() == HandlerShape.LOOP) {
				topics.computeIfPresent(topic, (name, shards) -> shards.withoutParents());
			}
		});
		return topics;
	}

	/** Passes on which shards take new records, if the sources of some topics know. */
	private void listed(Set<String> topics) {
		MonotonicTime now = this.runtime.clock().now();
		Map<String, ListedShards> listed = new TreeMap<>();
		this.sources.openShards().forEach((topic, open) -> {
			if (topics.contains(topic)) {
				listed.put(topic, new ListedShards(open.ids(), now.minus(open.age())));
			}
		});
		if (!listed.isEmpty()) {
			this.coordinator.shardsListed(listed);
		}
	}

	/**
	 * Opens the connection of the data plane before the first shard is assigned, which
	 * would wait for it. Records that are sent from now on are after "latest".
	 */
	private void warmUp(Set<String> topics) {
		try {
			recordConsumption(topics);
			this.checkpoints.offsets(topics.stream().map((topic) -> ShardId.of(topic, 0)).toList());
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be used yet", ex);
		}
	}

	private void recordConsumption(Set<String> topics) {
		try {
			this.startPositions.consume(this.states.takingPart(topics));
		}
		catch (StoreUnavailableException ex) {
			if (!ex.isRefusal()) {
				throw ex;
			}
			logger.warn("Since when a topic with 'start: latest' is consumed cannot be stored, so shards without an "
					+ "offset are not consumed: {}", ex.getMessage());
		}
	}

	/**
	 * Stores since when topics are consumed, in the background: the store may have lost
	 * it, and shards without an offset would start too late.
	 */
	private void recordConsumption(WorkerContext context, Set<String> topics) {
		try {
			context.executor().execute(() -> {
				try {
					this.startPositions.consume(this.states.takingPart(topics));
				}
				catch (StoreUnavailableException ex) {
					recordConsumptionLater(context, topics, ex);
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			recordConsumptionLater(context, topics, ex);
		}
	}

	private void recordConsumptionLater(WorkerContext context, Set<String> topics, Throwable failure) {
		logger.debug("Cannot store yet since when topics are consumed", failure);
		if (!context.timer().isShutdown()) {
			context.timer()
				.schedule(() -> recordConsumption(context, topics), PAUSE_AFTER_FAILURE.toMillis(),
						TimeUnit.MILLISECONDS);
		}
	}

	@Override
	public synchronized void stop() {
		this.idle = false;
		Running current = this.running;
		if (current == null) {
			return;
		}
		synchronized (this.changes) {
			current.stopping = true;
			current.unwatch();
		}
		MonotonicTime deadline = this.runtime.clock().now().plus(this.stopTimeout);
		try {
			current.broadcast.drain();
			this.coordinator.stop(this.stopTimeout);
			current.broadcast.awaitEnd(this.runtime.clock().now().until(deadline));
		}
		finally {
			shutDown(current);
		}
	}

	private void shutDown(Running current) {
		current.unwatch();
		this.agreement.end();
		current.workers.abandonAll();
		this.earlierWorkers = current.workers;
		current.broadcast.workers().abandonAll();
		this.earlierBroadcast = current.broadcast.workers();
		current.readers.close();
		// A call that has not returned needs them when it returns: its worker then saves
		// its result, and the next start waits for that.
		current.ended().thenRun(() -> {
			current.rescueLoop.close();
			if (current.comparison != null) {
				current.comparison.close();
			}
			current.threads.shutdown().run();
		});
		this.running = null;
	}

	/** Returns whether it is started, also without a handler: it has to be stopped. */
	@Override
	public boolean isRunning() {
		return isConsuming() || this.idle;
	}

	/** Returns whether it is started and has had a handler. */
	public boolean isConsuming() {
		return this.running != null;
	}

	@Override
	public boolean isAutoStartup() {
		return this.settings.startsWithContext() || this.startedBefore;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * Returns the topics that have a handler, stopped ones included, without broadcast
	 * topics; empty if not running.
	 */
	public Set<String> topics() {
		Running current = this.running;
		return (current != null) ? Set.copyOf(current.workers.handlers().keySet()) : Set.of();
	}

	/**
	 * Returns the broadcast topics that have a handler, stopped ones included; empty if
	 * not running.
	 */
	public Set<String> broadcastTopics() {
		Running current = this.running;
		return (current != null) ? Set.copyOf(current.broadcast.workers().handlers().keySet()) : Set.of();
	}

	/** Returns the topics with a handler that is paused or stopped on this instance. */
	public Map<String, State> restingTopics() {
		Map<String, State> resting = new TreeMap<>();
		this.consumed.forEach((topic) -> resting.put(topic, this.states.of(topic)));
		resting.values().removeIf(State.RUNNING::equals);
		return resting;
	}

	/** Returns the problem of each consumed topic whose shards cannot be found. */
	public Map<String, String> topicProblems() {
		Map<String, String> problems = new TreeMap<>(this.sources.problems());
		problems.keySet().retainAll(this.consumed);
		return problems;
	}

	/** Returns the consumed topics whose records come later because of a quota. */
	public Map<String, String> throttled() {
		Map<String, String> throttled = new TreeMap<>(this.sources.throttled());
		throttled.keySet().retainAll(this.consumed);
		return throttled;
	}

	/**
	 * Returns the texts of {@link #shardProblems()}, and which other shards the
	 * application has paused.
	 */
	public Map<ShardId, String> problems() {
		return texts(shardProblems(), allShards());
	}

	private Map<ShardId, String> texts(Map<ShardId, ShardProblem> problems, Iterable<ShardId> shards) {
		Map<ShardId, String> texts = ShardProblem.texts(problems);
		shards.forEach((shard) -> {
			if (this.states.of(shard.topic()) == State.PAUSED) {
				texts.putIfAbsent(shard, PAUSED);
			}
		});
		return texts;
	}

	/** Returns the problem of each shard of this instance that cannot be consumed. */
	public Map<ShardId, ShardProblem> shardProblems() {
		Running current = this.running;
		if (current == null) {
			return Map.of();
		}
		Map<ShardId, ShardProblem> problems = problems(current.workers, current.readers);
		problems.putAll(current.broadcast.problems());
		addUnreadable(current.broadcast.workers(), current.readers, problems);
		return problems;
	}

	/** Returns the problems of the group's shards on this instance. */
	private static Map<ShardId, ShardProblem> problems(ShardWorkers workers, ShardReaders readers) {
		Map<ShardId, ShardProblem> problems = workers.shardProblems();
		addUnreadable(workers, readers, problems);
		return problems;
	}

	private static void addUnreadable(ShardWorkers workers, ShardReaders readers, Map<ShardId, ShardProblem> problems) {
		workers.shards().forEach((shard) -> {
			ShardProblem noReads = readers.problem(shard.topic());
			if (noReads != null) {
				problems.putIfAbsent(shard, noReads);
			}
		});
	}

	/**
	 * Returns what waits in the outbox of a shard of the group; {@code null} if this
	 * instance does not consume the shard, or the shard has never sent anything.
	 */
	public @Nullable OutboxReport outbox(ShardId shard) {
		Running current = this.running;
		OutboxUsage.Waiting waiting = (current != null) ? current.workers.outbox(shard) : null;
		return (current != null && waiting != null) ? report(waiting, current.context) : null;
	}

	private static OutboxReport report(OutboxUsage.Waiting waiting, WorkerContext context) {
		MonotonicTime since = waiting.since();
		return new OutboxReport(waiting.records(), waiting.bytes(), (since != null)
				? context.wallClock().instant().minus(since.until(context.clock().now())).truncatedTo(ChronoUnit.MILLIS)
				: null);
	}

	/**
	 * Returns what this instance has done with a shard, also of a broadcast topic;
	 * {@code null} if it does not consume the shard.
	 */
	public @Nullable ShardActivity activity(ShardId shard) {
		Running current = this.running;
		if (current == null) {
			return null;
		}
		ShardActivity activity = current.workers.activity(shard);
		return (activity != null) ? activity : current.broadcast.workers().activity(shard);
	}

	/** Returns the shards of the group that this instance consumes or still drains. */
	public Set<ShardId> shards() {
		Running current = this.running;
		Set<ShardId> shards = new TreeSet<>();
		if (current != null) {
			current.workers.shards().forEach(shards::add);
		}
		return shards;
	}

	/** Returns {@link #shards()} and those of broadcast topics. */
	public Set<ShardId> allShards() {
		Running current = this.running;
		Set<ShardId> shards = shards();
		if (current != null) {
			current.broadcast.workers().shards().forEach(shards::add);
		}
		return shards;
	}

	/** Returns whether {@link #shards} has a shard. */
	public boolean owns(ShardId shard) {
		Running current = this.running;
		return current != null && current.workers.owns(shard);
	}

	/**
	 * Returns whether this instance is a member of its group, or tries to join it. It
	 * does not if it consumes broadcast topics only.
	 */
	public boolean isCoordinated() {
		Running current = this.running;
		return current != null && current.coordinated;
	}

	/** Processes requests for broadcast shards; the coordinator does that for others. */
	public void attend(Collection<ShardId> shards) {
		Running current = this.running;
		if (current != null) {
			current.broadcast.attend(shards);
		}
	}

	private static final class Running {

		private final ShardWorkers workers;

		private final BroadcastConsumption broadcast;

		private volatile boolean coordinated;

		/** Whether handlers that are registered now have to wait for the next start. */
		private boolean stopping;

		private final WorkerContext context;

		private final ShardReaders readers;

		private final Loops.Loop rescueLoop;

		private Loops.@Nullable Loop comparison;

		private final ConsumerRuntime.Running threads;

		private ShardSource.@Nullable Watch watch;

		Running(ShardWorkers workers, BroadcastConsumption broadcast, boolean coordinated, WorkerContext context,
				ShardReaders readers, Loops.Loop rescueLoop, ConsumerRuntime.Running threads) {
			this.workers = workers;
			this.broadcast = broadcast;
			this.coordinated = coordinated;
			this.context = context;
			this.readers = readers;
			this.rescueLoop = rescueLoop;
			this.threads = threads;
		}

		/** Returns a future that completes once all current workers have ended. */
		CompletableFuture<Void> ended() {
			return CompletableFuture.allOf(this.workers.ended(), this.broadcast.workers().ended());
		}

		/** Returns a future that completes once all current workers of a topic have. */
		CompletableFuture<Void> ended(String topic) {
			return CompletableFuture.allOf(this.workers.ended(topic), this.broadcast.workers().ended(topic));
		}

		void unwatch() {
			if (this.watch != null) {
				this.watch.close();
				this.watch = null;
			}
		}

	}

	/**
	 * Settings of consumption.
	 *
	 * @param totalBufferBytes the limit of what all shards together read ahead
	 * @param stateCacheBytes the limit of what is in memory of all states that are read
	 * when they are used
	 * @param broadcastTopics the topics of which every instance consumes every shard
	 * @param autoStartup returns whether a topic is consumed before somebody starts it
	 * @param startsWithContext whether the context starts the runner; otherwise somebody
	 * starts it later
	 */
	public record Settings(Function<String, ConsumerSettings> consumers, long totalBufferBytes, long stateCacheBytes,
			Set<String> broadcastTopics, Predicate<String> autoStartup, boolean startsWithContext) {

		public Settings {
			broadcastTopics = Set.copyOf(broadcastTopics);
		}

	}

}
