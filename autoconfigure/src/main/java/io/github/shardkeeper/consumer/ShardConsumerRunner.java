package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.MonotonicClock;
import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.SupervisedThread;
import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;

/**
 * Runs the application's handlers: one reader for all shards of the instance, and for
 * each shard a worker that exists only while the instance owns it. Thread-safe.
 * <p>
 * As a lifecycle it starts after the web server, which answers before the first record is
 * handled, and stops before it, while the connections to Redis still stand. Beans in
 * later phases, the default one among them, start after it and stop before it.
 */
public final class ShardConsumerRunner implements ShardConsumption, SmartLifecycle {

	/** After the web server at start, before it at stop. */
	public static final int PHASE = DEFAULT_PHASE - 512;

	private static final Logger logger = LoggerFactory.getLogger(ShardConsumerRunner.class);

	private static final long READER_PAUSE_MILLIS = 250;

	private final ShardCoordinator coordinator;

	private final ShardHandlerDetector detector;

	private final ShardSource source;

	private final CheckpointStore checkpoints;

	private final Lease lease;

	private final MonotonicClock clock;

	private final WorkerThreads threads;

	private final JsonMapper mapper;

	private final ConsumerMeters meters;

	private final Duration stopTimeout;

	private final Map<ShardId, ShardWorker> workers = new ConcurrentHashMap<>();

	private final Map<ShardId, ShardPreparation> preparations = new ConcurrentHashMap<>();

	private volatile @Nullable Running running;

	/** Why no shard can be read. */
	private volatile @Nullable String readTrouble;

	/**
	 * Creates a runner that is not started.
	 * @param coordinator says which shards to consume
	 * @param detector finds the handlers
	 * @param source where records come from
	 * @param checkpoints where state and offsets are kept
	 * @param lease whether this instance may consume at all
	 * @param clock the clock
	 * @param threads the threads that handlers run on
	 * @param mapper reads and writes the state's values
	 * @param meters counts what is done
	 * @param stopTimeout how long a stop may take
	 */
	public ShardConsumerRunner(ShardCoordinator coordinator, ShardHandlerDetector detector, ShardSource source,
			CheckpointStore checkpoints, Lease lease, MonotonicClock clock, WorkerThreads threads, JsonMapper mapper,
			ConsumerMeters meters, Duration stopTimeout) {
		this.coordinator = coordinator;
		this.detector = detector;
		this.source = source;
		this.checkpoints = checkpoints;
		this.lease = lease;
		this.clock = clock;
		this.threads = threads;
		this.mapper = mapper;
		this.meters = meters;
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
		WorkerThreads.Running runningThreads = this.threads.start();
		ShardReader reader = this.source.openReader();
		ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, "shardkeeper-timer");
			thread.setDaemon(true);
			return thread;
		});
		WorkerContext context = new WorkerContext(this.coordinator.settings().group(), this.checkpoints, reader,
				this.lease, this.clock, runningThreads.executor(), timer, this.mapper, this.meters,
				this.coordinator.consumptionListener());
		SupervisedThread readerThread = SupervisedThread.start("shardkeeper-reader", () -> read(reader));
		Running current = new Running(handlers, context, readerThread, runningThreads);
		this.running = current;
		Map<String, Integer> consumed = new TreeMap<>(this.source.topics());
		consumed.keySet().retainAll(handlers.keySet());
		try {
			warmUp(consumed);
			this.coordinator.start(consumed, this);
		}
		catch (RuntimeException ex) {
			shutDown(current);
			throw ex;
		}
	}

	/**
	 * Opens the data plane's connection before the first shard comes: the shard stands
	 * still meanwhile.
	 */
	private void warmUp(Map<String, Integer> topics) {
		try {
			this.checkpoints.offsets(topics.keySet().stream().map((topic) -> ShardId.of(topic, 0)).toList());
		}
		catch (StoreUnavailableException ex) {
			logger.debug("The store cannot be used yet", ex);
		}
	}

	private void read(ShardReader reader) throws InterruptedException {
		try {
			if (reader.poll() && this.readTrouble != null) {
				this.readTrouble = null;
				logger.info("Records are read again");
			}
		}
		catch (StoreUnavailableException ex) {
			if (this.readTrouble == null) {
				logger.warn("Cannot read records; trying on. {}", ex.getMessage());
			}
			this.readTrouble = ex.getMessage();
			Thread.sleep(READER_PAUSE_MILLIS);
		}
	}

	@Override
	public void stop() {
		Running current = this.running;
		if (current == null) {
			return;
		}
		this.coordinator.stop(this.stopTimeout);
		shutDown(current);
	}

	private void shutDown(Running current) {
		this.preparations.values().forEach(ShardPreparation::stop);
		this.workers.values().forEach(ShardWorker::abandon);
		current.readerThread.close();
		current.context.reader().close();
		current.context.timer().shutdownNow();
		current.threads.shutdown().run();
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

	@Override
	public void start(ShardId shard, Token token, MemberId member) {
		Running current = this.running;
		ShardHandler handler = (current != null) ? current.handlers.get(shard.topic()) : null;
		if (current == null || handler == null) {
			logger.error("Got {} although this instance has no handler for its topic", shard);
			return;
		}
		logger.info("Assigned {} (token {})", shard, token);
		// The coordinator's loop is the only caller, so nothing comes in between.
		ShardWorker predecessor = this.workers.get(shard);
		ShardWorker worker = new ShardWorker(shard, token, member, handler, current.context,
				ended(predecessor, this.preparations.get(shard)));
		this.workers.put(shard, worker);
		worker.ended().thenRun(() -> this.workers.remove(shard, worker));
		if (predecessor != null) {
			predecessor.abandon();
		}
	}

	/** Completes when neither does anything more. */
	private static CompletableFuture<Void> ended(@Nullable ShardWorker worker, @Nullable ShardPreparation preparation) {
		CompletableFuture<Void> ended = (worker != null) ? worker.ended() : CompletableFuture.completedFuture(null);
		if (preparation == null) {
			return ended;
		}
		preparation.drop();
		return CompletableFuture.allOf(ended, preparation.ended());
	}

	@Override
	public void prepare(ShardId shard, MemberId member) {
		Running current = this.running;
		ShardHandler handler = (current != null) ? current.handlers.get(shard.topic()) : null;
		if (current == null || handler == null || !handler.prepares()) {
			return;
		}
		logger.debug("Preparing for {}", shard);
		ShardPreparation preparation = ShardPreparation.begin(handler,
				new ComingShard(current.context.group(), shard, member), current.context.executor(),
				ended(this.workers.get(shard), this.preparations.get(shard)));
		this.preparations.put(shard, preparation);
		preparation.ended().thenRun(() -> this.preparations.remove(shard, preparation));
	}

	@Override
	public void drain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			logger.info("Revoked {}", shard);
			worker.drain();
		}
	}

	@Override
	public void cancelDrain(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null && worker.cancelDrain()) {
			logger.info("Keeps {}: its move was cancelled", shard);
		}
	}

	@Override
	public void interrupt(ShardId shard, Duration draining) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			worker.interrupt(draining);
		}
	}

	@Override
	public void abandon(ShardId shard) {
		ShardWorker worker = this.workers.get(shard);
		if (worker != null) {
			logger.info("Lost {}", shard);
			worker.abandon();
		}
	}

	@Override
	public void suspend() {
		this.workers.values().forEach(ShardWorker::interruptHandler);
	}

	@Override
	public void resume() {
		this.workers.values().forEach(ShardWorker::wake);
	}

	@Override
	public void writeBack() {
		this.workers.values().forEach(ShardWorker::writeBack);
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new TreeMap<>();
		Running current = this.running;
		if (current != null) {
			problems.putAll(current.context.reader().problems());
		}
		String noReads = this.readTrouble;
		this.workers.forEach((shard, worker) -> {
			String problem = worker.problem();
			if (problem != null) {
				problems.put(shard, problem);
			}
			else if (noReads != null) {
				problems.putIfAbsent(shard, "Records cannot be read: " + noReads);
			}
		});
		return problems;
	}

	private record Running(Map<String, ShardHandler> handlers, WorkerContext context, SupervisedThread readerThread,
			WorkerThreads.Running threads) {

	}

}
