package io.github.shardkeeper.worker;

import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import org.slf4j.Logger;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.StateValues;
import io.github.shardkeeper.coordination.ShardConsumption;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.output.Outputs;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.source.ShardReadControl;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.ConsumerMeters.ParkedTotals;
import io.github.shardkeeper.worker.ConsumerMeters.TopicMeters;

/**
 * Objects that all workers of an instance share. Immutable.
 */
public final class WorkerContext {

	private static final Logger logger = PrintableLogger.of(WorkerContext.class);

	/**
	 * Maximum number at a time: each may bring a large state, and all have one timeout.
	 */
	private static final int MAX_ACQUISITIONS = 64;

	private final String group;

	private final CheckpointStore checkpoints;

	private final ShardReadControl reader;

	private final Lease lease;

	private final MonotonicClock clock;

	private final InstantSource wallClock;

	private final Executor executor;

	private final ScheduledExecutorService timer;

	private final StateValues stateValues;

	private final ConsumerMeters meters;

	/** Guarded meters by topic. */
	private final Map<String, MeterGuard<TopicMeters>> topicMeters;

	private final BufferBudget budget;

	/** What is read ahead by topic. */
	private final Map<String, BufferBudget.Usage> bufferUsages;

	private final Map<String, ParkedTotals> parked;

	private final Map<String, OutboxUsage> outboxUsages = new ConcurrentHashMap<>();

	private final Function<String, ConsumerSettings> settings;

	private final ConsumerEvents events;

	private final ShardConsumption.Listener listener;

	private final boolean measuresWork;

	/** Whether its shards are those of the group, which move. */
	private final boolean coordinated;

	private final AcquisitionPermits acquisitions;

	private final FailureLog failures;

	private final Outputs outputs;

	/** Number of ownerships that workers have begun. */
	private final AtomicLong ownerships = new AtomicLong();

	/**
	 * Creates a context for handlers that send nothing as parts of their calls; see the
	 * other constructor.
	 */
	public WorkerContext(String group, CheckpointStore checkpoints, ShardReadControl reader, Lease lease,
			MonotonicClock clock, InstantSource wallClock, Executor executor, ScheduledExecutorService timer,
			JsonMapper mapper, ConsumerMeters meters, BufferBudget budget, Function<String, ConsumerSettings> settings,
			ConsumerEvents events, ShardConsumption.Listener listener, boolean measuresWork) {
		this(group, checkpoints, reader, lease, clock, wallClock, executor, timer, mapper, meters, budget, settings,
				events, listener, measuresWork, Outputs.NONE);
	}

	/**
	 * Creates a context.
	 * @param lease the lease; without it nothing is consumed
	 * @param wallClock the clock of times that people read
	 * @param executor runs the workers
	 * @param timer wakes workers that wait
	 * @param mapper converts the values of the state
	 * @param budget the limit for what all shards together read ahead
	 * @param settings the settings by topic
	 * @param listener hears when a worker has ended
	 * @param measuresWork whether the work for each shard is measured
	 * @param outputs where the records go that handlers send as parts of their calls
	 */
	public WorkerContext(String group, CheckpointStore checkpoints, ShardReadControl reader, Lease lease,
			MonotonicClock clock, InstantSource wallClock, Executor executor, ScheduledExecutorService timer,
			JsonMapper mapper, ConsumerMeters meters, BufferBudget budget, Function<String, ConsumerSettings> settings,
			ConsumerEvents events, ShardConsumption.Listener listener, boolean measuresWork, Outputs outputs) {
		this(group, checkpoints, reader, lease, clock, wallClock, executor, timer, new StateValues(mapper), meters,
				new ConcurrentHashMap<>(), budget, new ConcurrentHashMap<>(), new ConcurrentHashMap<>(), settings,
				events, listener, measuresWork, true, outputs);
	}

	private WorkerContext(String group, CheckpointStore checkpoints, ShardReadControl reader, Lease lease,
			MonotonicClock clock, InstantSource wallClock, Executor executor, ScheduledExecutorService timer,
			StateValues stateValues, ConsumerMeters meters, Map<String, MeterGuard<TopicMeters>> topicMeters,
			BufferBudget budget, Map<String, BufferBudget.Usage> bufferUsages, Map<String, ParkedTotals> parked,
			Function<String, ConsumerSettings> settings, ConsumerEvents events, ShardConsumption.Listener listener,
			boolean measuresWork, boolean coordinated, Outputs outputs) {
		this.group = group;
		this.checkpoints = checkpoints;
		this.reader = reader;
		this.lease = lease;
		this.clock = clock;
		this.wallClock = wallClock;
		this.executor = executor;
		this.timer = timer;
		this.stateValues = stateValues;
		this.meters = meters;
		this.topicMeters = topicMeters;
		this.budget = budget;
		this.bufferUsages = bufferUsages;
		this.parked = parked;
		this.settings = settings;
		this.events = events;
		this.listener = listener;
		this.measuresWork = measuresWork;
		this.coordinated = coordinated;
		this.acquisitions = new AcquisitionPermits(MAX_ACQUISITIONS);
		this.failures = new FailureLog(clock, timer);
		this.outputs = outputs;
	}

	private static void notCounted(Throwable failure) {
		logger.warn("Consumption cannot be counted; it continues. Logged once", FailureLog.printable(failure));
	}

	/**
	 * Returns a context for the topics of which this instance consumes every shard: they
	 * need no lease.
	 */
	public WorkerContext forBroadcast(ShardConsumption.Listener broadcastListener) {
		return new WorkerContext(this.group, this.checkpoints, this.reader, Lease.unlimited(), this.clock,
				this.wallClock, this.executor, this.timer, this.stateValues, this.meters, this.topicMeters, this.budget,
				this.bufferUsages, this.parked, this.settings, this.events, broadcastListener, false, false,
				this.outputs);
	}

	/** Returns the settings of a topic. */
	public ConsumerSettings settings(String topic) {
		return this.settings.apply(topic);
	}

	/** Returns the name of the group. */
	public String group() {
		return this.group;
	}

	/** Returns the store of the checkpoints. */
	public CheckpointStore checkpoints() {
		return this.checkpoints;
	}

	/** Returns the control of what is read. */
	public ShardReadControl reader() {
		return this.reader;
	}

	Lease lease() {
		return this.lease;
	}

	/** Returns the clock. */
	public MonotonicClock clock() {
		return this.clock;
	}

	/** Returns the clock of times that people read. */
	public InstantSource wallClock() {
		return this.wallClock;
	}

	/** Returns the executor that runs the workers. */
	public Executor executor() {
		return this.executor;
	}

	/** Returns the timer that wakes workers. */
	public ScheduledExecutorService timer() {
		return this.timer;
	}

	/** Returns the mapper of the values of the state. */
	public JsonMapper mapper() {
		return this.stateValues.mapper();
	}

	StateValues stateValues() {
		return this.stateValues;
	}

	/**
	 * Returns the meters of a topic, which are registered when they are first asked for.
	 * Never throws; a worker keeps them.
	 */
	public MeterGuard<TopicMeters> meters(String topic) {
		return this.topicMeters.computeIfAbsent(topic, this::register);
	}

	private MeterGuard<TopicMeters> register(String topic) {
		TopicMeters registered = null;
		try {
			registered = this.meters.of(topic);
			registered.buffering(bufferUsage(topic));
			registered.parking(parked(topic));
			registered.sending(outboxUsage(topic));
		}
		catch (Throwable ex) {
			// From a registry or a filter of the application.
			notCounted(ex);
		}
		return new MeterGuard<>((registered != null) ? registered : TopicMeters.NONE, WorkerContext::notCounted);
	}

	/** Returns the budget of what all shards read ahead. */
	public BufferBudget budget() {
		return this.budget;
	}

	/** Returns what the shards of a topic read ahead. */
	BufferBudget.Usage bufferUsage(String topic) {
		return this.bufferUsages.computeIfAbsent(topic, (name) -> new BufferBudget.Usage());
	}

	/** Returns what waits in the shards of a topic. */
	ParkedTotals parked(String topic) {
		return this.parked.computeIfAbsent(topic, (name) -> new ParkedTotals());
	}

	/** Returns what waits in the outboxes of the shards of a topic. */
	OutboxUsage outboxUsage(String topic) {
		return this.outboxUsages.computeIfAbsent(topic, (name) -> new OutboxUsage());
	}

	ConsumerEvents events() {
		return this.events;
	}

	/** Returns whether its shards are those of the group, each with one owner. */
	boolean isCoordinated() {
		return this.coordinated;
	}

	/** Reports a phase of the move of a shard, if its shards move. */
	void reached(OwnedShard shard, MovePhase phase, MonotonicTime at) {
		if (this.coordinated) {
			this.events.reached(shard, phase, at);
		}
	}

	ShardConsumption.Listener listener() {
		return this.listener;
	}

	/** Returns whether the work for each shard is measured. */
	public boolean measuresWork() {
		return this.measuresWork;
	}

	/** Returns the number of an ownership that begins; each has another one, from 1. */
	long nextOwnership() {
		return this.ownerships.incrementAndGet();
	}

	AcquisitionPermits acquisitions() {
		return this.acquisitions;
	}

	Outputs outputs() {
		return this.outputs;
	}

	FailureLog failures() {
		return this.failures;
	}

}
