package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.BufferBudget;
import io.github.shardkeeper.worker.ConsumerEvents;
import io.github.shardkeeper.worker.ConsumerMeters;
import io.github.shardkeeper.worker.ConsumerSettings;
import io.github.shardkeeper.worker.ShardWorker;
import io.github.shardkeeper.worker.WorkerContext;

/**
 * Runs the application's handlers: one reader for all shards of the instance, and for
 * each shard a worker that exists only while the instance owns it. Thread-safe.
 * <p>
 * As a lifecycle it starts after the web server, which answers before the first record is
 * handled, and stops before it, while the connections to Redis still stand. Beans in
 * later phases, the default one among them, start after it and stop before it.
 */
public final class ShardConsumerRunner implements SmartLifecycle {

	/** After the web server at start, before it at stop. */
	public static final int PHASE = DEFAULT_PHASE - 512;

	private static final Logger logger = LoggerFactory.getLogger(ShardConsumerRunner.class);

	private static final String READER = "shardkeeper-reader";

	private static final String RESCUE = "shardkeeper-rescue";

	/** Costs a look at a flag for each shard. */
	private static final Duration RESCUE_PERIOD = Duration.ofSeconds(1);

	private static final Duration READER_PAUSE = Duration.ofMillis(250);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final ShardCoordinator coordinator;

	private final ShardHandlerDetector detector;

	private final ShardSource source;

	private final StartPositions startPositions;

	private final CheckpointStore checkpoints;

	private final Lease lease;

	private final MemberRuntime runtime;

	private final WorkerThreads threads;

	private final Consuming consuming;

	private final JsonMapper mapper;

	private final ConsumerMeters meters;

	private final ConsumerEvents events;

	private final Duration stopTimeout;

	private volatile @Nullable Running running;

	/** Broadcast topics among them. */
	private volatile Set<String> consumed = Set.of();

	/** Of the last run, which may have ended before all of them. */
	private @Nullable ShardWorkers earlierWorkers;

	private @Nullable ShardWorkers earlierBroadcast;

	/** Why no shard can be read. */
	private volatile @Nullable String readTrouble;

	/** Confined to the reader's loop. */
	private final ProblemLog readLog = new ProblemLog();

	/**
	 * Creates a runner that is not started.
	 * @param coordinator says which shards to consume
	 * @param detector finds the handlers
	 * @param source where records come from
	 * @param startPositions where to begin with shards that have no offset
	 * @param checkpoints where state and offsets are kept
	 * @param lease whether this instance may consume at all
	 * @param runtime clock and loops
	 * @param threads the threads that handlers run on
	 * @param consuming how topics are consumed
	 * @param mapper reads and writes the state's values
	 * @param meters counts what is done
	 * @param events hears what becomes of session and shards
	 * @param stopTimeout how long a stop may take
	 */
	public ShardConsumerRunner(ShardCoordinator coordinator, ShardHandlerDetector detector, ShardSource source,
			StartPositions startPositions, CheckpointStore checkpoints, Lease lease, MemberRuntime runtime,
			WorkerThreads threads, Consuming consuming, JsonMapper mapper, ConsumerMeters meters, ConsumerEvents events,
			Duration stopTimeout) {
		this.coordinator = coordinator;
		this.detector = detector;
		this.source = source;
		this.startPositions = startPositions;
		this.checkpoints = checkpoints;
		this.lease = lease;
		this.runtime = runtime;
		this.threads = threads;
		this.consuming = consuming;
		this.mapper = mapper;
		this.meters = meters;
		this.events = events;
		this.stopTimeout = stopTimeout;
	}

	@Override
	public void start() {
		Map<String, ShardHandler> handlers = this.detector.detect(this.source.topics());
		if (handlers.isEmpty()) {
			logger.info("No @ShardConsumer method: this instance does not join group '{}'",
					this.coordinator.settings().group());
			return;
		}
		handlers.forEach((topic, handler) -> this.consuming.settings().apply(topic).check(handler));
		WorkerThreads.Running runningThreads = this.threads.start();
		ShardReader reader = this.startPositions.over(this.source.openReader());
		ScheduledExecutorService timer = startTimer();
		WorkerContext context = new WorkerContext(this.coordinator.settings().group(), this.checkpoints, reader,
				this.lease, this.runtime.clock(), InstantSource.system(), runningThreads.executor(), timer, this.mapper,
				this.meters, new BufferBudget(this.consuming.totalBufferBytes()), this.consuming.settings(),
				this.events, this.coordinator.consumptionListener(), this.coordinator.measuresLoads());
		Map<String, ShardHandler> broadcast = new TreeMap<>(handlers);
		broadcast.keySet().retainAll(this.consuming.broadcastTopics());
		Map<String, ShardHandler> coordinated = new TreeMap<>(handlers);
		coordinated.keySet().removeAll(broadcast.keySet());
		SessionWatch session = new SessionWatch(this.coordinator::member, this.events);
		ShardWorkers workers = new ShardWorkers(coordinated, context, session, runningThreads.preparing(),
				this.earlierWorkers);
		workers.onWriteBack(() -> sayStartAgain(context, handlers.keySet()));
		BroadcastConsumption everything = broadcast.isEmpty() ? null : new BroadcastConsumption(broadcast, context,
				session, runningThreads, this.coordinator.settings().instance(), this.earlierBroadcast);
		if (everything != null && !this.consuming.instanceIdStays()) {
			logger
				.warn("Every start begins anew with the broadcast topics {}, and leaves the offsets of this one behind: "
						+ "'shardkeeper.instance-id' is not set. Set it to an id that this instance alone has, and keeps",
						broadcast.keySet());
		}
		Loops.Step step = () -> read(reader);
		// Something has to keep the process running: the coordinator does, where there is
		// one.
		Loops.Loop readerLoop = coordinated.isEmpty() ? this.runtime.loops().startForeground(READER, step)
				: this.runtime.loops().start(READER, step);
		Loops.Loop rescueLoop = this.runtime.loops().start(RESCUE, () -> {
			workers.rescue();
			if (everything != null) {
				everything.workers().rescue();
			}
			return this.runtime.clock().now().plus(RESCUE_PERIOD);
		});
		Running current = new Running(Set.copyOf(coordinated.keySet()), workers, everything, !coordinated.isEmpty(),
				context, readerLoop, rescueLoop, runningThreads);
		this.running = current;
		this.consumed = Set.copyOf(handlers.keySet());
		try {
			rehearse(context, handlers.keySet());
			warmUp(handlers.keySet());
			if (current.coordinated) {
				this.coordinator.start(topics(coordinated), workers);
			}
			current.watch(this.source, () -> {
				if (current.coordinated) {
					this.coordinator.shardsChanged(topics(coordinated));
				}
				if (everything != null) {
					everything.shardsChanged(topics(broadcast));
				}
			});
		}
		catch (RuntimeException | Error ex) {
			shutDown(current);
			throw ex;
		}
	}

	/**
	 * With its thread: workers for which no thread is available wait for this timer, and
	 * then it would not get a thread either.
	 */
	private static ScheduledExecutorService startTimer() {
		ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "shardkeeper-timer");
			thread.setDaemon(true);
			return thread;
		});
		timer.prestartCoreThread();
		return timer;
	}

	/**
	 * What the source knows of the topics that have a handler. One that reads no records
	 * never comes to the end of a shard, so its shards wait for none.
	 */
	private Map<String, TopicShards> topics(Map<String, ShardHandler> handlers) {
		Map<String, TopicShards> topics = new TreeMap<>(this.source.topics());
		topics.keySet().retainAll(handlers.keySet());
		handlers.forEach((topic, handler) -> {
			if (handler.shape() == HandlerShape.LOOP) {
				topics.computeIfPresent(topic, (name, shards) -> shards.withoutParents());
			}
		});
		return topics;
	}

	/**
	 * Opens the data plane's connection before the first shard comes: the shard stands
	 * still meanwhile. What is sent from then on is not before "latest".
	 */
	private void warmUp(Set<String> topics) {
		try {
			this.startPositions.consume(topics);
			this.checkpoints.offsets(topics.stream().map((topic) -> ShardId.of(topic, 0)).toList());
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be used yet", ex);
		}
	}

	/**
	 * The store may have forgotten since when topics are consumed, and whoever asks next
	 * would begin too late with shards that have no offset yet.
	 */
	private void sayStartAgain(WorkerContext context, Set<String> topics) {
		try {
			context.executor().execute(() -> {
				try {
					this.startPositions.consume(topics);
				}
				catch (StoreUnavailableException ex) {
					sayStartLater(context, topics, ex);
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			sayStartLater(context, topics, ex);
		}
	}

	private void sayStartLater(WorkerContext context, Set<String> topics, Throwable failure) {
		logger.debug("Since when topics are consumed cannot be determined yet", failure);
		if (!context.timer().isShutdown()) {
			context.timer()
				.schedule(() -> sayStartAgain(context, topics), PAUSE_AFTER_FAILURE.toMillis(), TimeUnit.MILLISECONDS);
		}
	}

	/**
	 * Beside the join, which takes its time, and not on a worker's thread, because it may
	 * wait for the store.
	 */
	private void rehearse(WorkerContext context, Set<String> topics) {
		String topic = topics.iterator().next();
		Thread thread = new Thread(() -> Rehearsal.run(context, this.consuming.settings(), topic),
				"shardkeeper-rehearsal");
		thread.setDaemon(true);
		try {
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			logger.debug("No thread for the warm-up; the first shard starts somewhat later", ex);
		}
	}

	private MonotonicTime read(ShardReader reader) throws InterruptedException {
		try {
			if (reader.poll() && this.readLog.resolved()) {
				this.readTrouble = null;
				logger.info("Records are read again");
			}
			return this.runtime.clock().now();
		}
		catch (StoreUnavailableException ex) {
			if (this.readLog.isNew(String.valueOf(ex.getMessage()))) {
				logger.warn("Cannot read records; trying on. {}", ex.getMessage());
			}
			this.readTrouble = ex.getMessage();
			return this.runtime.clock().now().plus(READER_PAUSE);
		}
	}

	@Override
	public void stop() {
		Running current = this.running;
		if (current == null) {
			return;
		}
		current.unwatch();
		MonotonicTime deadline = this.runtime.clock().now().plus(this.stopTimeout);
		try {
			if (current.broadcast != null) {
				current.broadcast.drain();
			}
			this.coordinator.stop(this.stopTimeout);
			if (current.broadcast != null) {
				current.broadcast.awaitEnd(this.runtime.clock().now().until(deadline));
			}
		}
		finally {
			shutDown(current);
		}
	}

	private void shutDown(Running current) {
		current.unwatch();
		current.workers.abandonAll();
		this.earlierWorkers = current.workers;
		if (current.broadcast != null) {
			current.broadcast.workers().abandonAll();
			this.earlierBroadcast = current.broadcast.workers();
		}
		current.readerLoop.close();
		current.context.reader().close();
		// A call that has not returned needs them once more, when it does: its worker
		// puts away what it leaves, and the next start waits for that.
		current.ended().thenRun(() -> {
			current.rescueLoop.close();
			current.context.timer().shutdownNow();
			current.threads.shutdown().run();
		});
		this.running = null;
	}

	@Override
	public boolean isRunning() {
		return this.running != null;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * The topics that this instance consumes as a member of its group; not those that are
	 * broadcast.
	 * @return their names; none when it is not running
	 */
	public Set<String> topics() {
		Running current = this.running;
		return (current != null) ? current.topics : Set.of();
	}

	/**
	 * What keeps topics that this instance consumes from having any shards.
	 * @return by topic what is wrong and what to do
	 */
	public Map<String, String> topicProblems() {
		Map<String, String> problems = new TreeMap<>(this.source.problems());
		problems.keySet().retainAll(this.consumed);
		return problems;
	}

	/**
	 * What keeps shards of this instance from being consumed.
	 * @return a sentence for each shard that is held up
	 */
	public Map<ShardId, String> problems() {
		return ShardWorker.Problem.texts(shardProblems());
	}

	/**
	 * The same, with what of it somebody has to look at.
	 * @return for each shard that is held up why, and whether that is an alarm
	 */
	public Map<ShardId, ShardWorker.Problem> shardProblems() {
		Running current = this.running;
		if (current == null) {
			return Map.of();
		}
		Map<ShardId, ShardWorker.Problem> problems = current.workers.shardProblems();
		BroadcastConsumption broadcast = current.broadcast;
		if (broadcast != null) {
			problems.putAll(broadcast.problems());
		}
		String noReads = this.readTrouble;
		if (noReads != null) {
			Consumer<ShardId> tell = (shard) -> problems.putIfAbsent(shard,
					ShardWorker.Problem.alarm("Records cannot be read: " + noReads));
			current.workers.shards().forEach(tell);
			if (broadcast != null) {
				broadcast.workers().shards().forEach(tell);
			}
		}
		return problems;
	}

	/**
	 * Whether this instance is, or wants to be, a member of its group. It does not if all
	 * the topics that it consumes are broadcast.
	 * @return whether it is running and consumes a topic that is shared out
	 */
	public boolean isCoordinated() {
		Running current = this.running;
		return current != null && current.coordinated;
	}

	/**
	 * Looks for requests that were left for shards of broadcast topics. Those of others
	 * are told by the coordinator.
	 * @param shards the shards
	 */
	public void attend(Collection<ShardId> shards) {
		Running current = this.running;
		if (current != null && current.broadcast != null) {
			current.broadcast.attend(shards);
		}
	}

	private static final class Running {

		private final Set<String> topics;

		private final ShardWorkers workers;

		/** {@code null} where no topic is broadcast. */
		private final @Nullable BroadcastConsumption broadcast;

		/** Whether the instance joins its group. */
		private final boolean coordinated;

		private final WorkerContext context;

		private final Loops.Loop readerLoop;

		private final Loops.Loop rescueLoop;

		private final WorkerThreads.Running threads;

		private ShardSource.@Nullable Watch watch;

		Running(Set<String> topics, ShardWorkers workers, @Nullable BroadcastConsumption broadcast, boolean coordinated,
				WorkerContext context, Loops.Loop readerLoop, Loops.Loop rescueLoop, WorkerThreads.Running threads) {
			this.topics = topics;
			this.workers = workers;
			this.broadcast = broadcast;
			this.coordinated = coordinated;
			this.context = context;
			this.readerLoop = readerLoop;
			this.rescueLoop = rescueLoop;
			this.threads = threads;
		}

		void watch(ShardSource source, Runnable onChange) {
			this.watch = source.watch(onChange);
			// What has changed between the coordinator's start and now.
			onChange.run();
		}

		/** Completes when all workers that are there now have ended. */
		CompletableFuture<Void> ended() {
			CompletableFuture<Void> coordinatedEnded = this.workers.ended();
			return (this.broadcast == null) ? coordinatedEnded
					: CompletableFuture.allOf(coordinatedEnded, this.broadcast.workers().ended());
		}

		void unwatch() {
			if (this.watch != null) {
				this.watch.close();
				this.watch = null;
			}
		}

	}

	/**
	 * How topics are consumed.
	 *
	 * @param settings the settings of each topic
	 * @param totalBufferBytes what all shards together may read ahead
	 * @param broadcastTopics the topics of which every instance consumes every shard
	 * @param instanceIdStays whether this instance has the same id after a restart
	 */
	public record Consuming(Function<String, ConsumerSettings> settings, long totalBufferBytes,
			Set<String> broadcastTopics, boolean instanceIdStays) {

		public Consuming {
			broadcastTopics = Set.copyOf(broadcastTopics);
		}

	}

}
