package io.github.shardkeeper.worker.shard;

import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import org.slf4j.Logger;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.loop.MeterGuard;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.source.ShardReadControl;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerMeters.TopicMeters;

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

	private final Stores stores;

	private final Runtime runtime;

	private final Topics topics;

	private final Observers observers;

	private final Lease lease;

	/** Whether its shards are those of the group, which move. */
	private final boolean coordinated;

	/** Guarded meters by topic. */
	private final Map<String, MeterGuard<TopicMeters>> topicMeters;

	/** What waits by topic. */
	private final Map<String, TopicBacklog> backlogs;

	private final AcquisitionPermits acquisitions = new AcquisitionPermits(MAX_ACQUISITIONS);

	private final FailureLog failures;

	/** Number of ownerships that workers have begun. */
	private final AtomicLong ownerships = new AtomicLong();

	/**
	 * Creates a context for the shards of a group.
	 * @param lease the lease; without it nothing is consumed
	 */
	public WorkerContext(String group, Stores stores, Runtime runtime, Topics topics, Observers observers,
			Lease lease) {
		this.group = group;
		this.stores = stores;
		this.runtime = runtime;
		this.topics = topics;
		this.observers = observers;
		this.lease = lease;
		this.coordinated = true;
		this.topicMeters = new ConcurrentHashMap<>();
		this.backlogs = new ConcurrentHashMap<>();
		this.failures = new FailureLog(runtime.clock(), runtime.timer());
	}

	private WorkerContext(WorkerContext coordinated, ShardConsumption.Listener listener) {
		this.group = coordinated.group;
		this.stores = coordinated.stores;
		this.runtime = coordinated.runtime;
		this.topics = coordinated.topics;
		this.observers = new Observers(coordinated.observers.meters(), coordinated.observers.events(), listener, false);
		this.lease = Lease.unlimited();
		this.coordinated = false;
		this.topicMeters = coordinated.topicMeters;
		this.backlogs = coordinated.backlogs;
		this.failures = new FailureLog(this.runtime.clock(), this.runtime.timer());
	}

	private static void notCounted(Throwable failure) {
		logger.warn("Consumption cannot be counted; it continues. Logged once", FailureLog.printable(failure));
	}

	/**
	 * Returns a context for the topics of which this instance consumes every shard: they
	 * need no lease.
	 */
	public WorkerContext forBroadcast(ShardConsumption.Listener broadcastListener) {
		return new WorkerContext(this, broadcastListener);
	}

	/** Returns the settings of a topic. */
	public ConsumerSettings settings(String topic) {
		return this.topics.settings().apply(topic);
	}

	/** Returns the name of the group. */
	public String group() {
		return this.group;
	}

	/** Returns the store of the checkpoints. */
	public CheckpointStore checkpoints() {
		return this.stores.checkpoints();
	}

	/** Returns the control of what is read. */
	public ShardReadControl reader() {
		return this.stores.reader();
	}

	public Lease lease() {
		return this.lease;
	}

	/** Returns the clock. */
	public MonotonicClock clock() {
		return this.runtime.clock();
	}

	/** Returns the clock of times that people read. */
	public InstantSource wallClock() {
		return this.runtime.wallClock();
	}

	/** Returns the executor that runs the workers. */
	public Executor executor() {
		return this.runtime.executor();
	}

	/** Returns the timer that wakes workers. */
	public ScheduledExecutorService timer() {
		return this.runtime.timer();
	}

	/** Returns the cache of the states that are read when they are used. */
	public StateCache stateCache() {
		return this.topics.stateCache();
	}

	public StateValues stateValues() {
		return this.topics.stateValues();
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
			registered = this.observers.meters().of(topic);
			registered.waiting(backlog(topic));
		}
		catch (Throwable ex) {
			// From a registry or a filter of the application.
			notCounted(ex);
		}
		return new MeterGuard<>((registered != null) ? registered : TopicMeters.NONE, WorkerContext::notCounted);
	}

	/** Returns the budget of what all shards read ahead. */
	public BufferBudget budget() {
		return this.topics.budget();
	}

	/** Returns what waits in the shards of a topic. */
	public TopicBacklog backlog(String topic) {
		return this.backlogs.computeIfAbsent(topic, (name) -> new TopicBacklog());
	}

	public ConsumerEvents events() {
		return this.observers.events();
	}

	/** Returns whether its shards are those of the group, each with one owner. */
	public boolean isCoordinated() {
		return this.coordinated;
	}

	/** Reports a phase of the move of a shard, if its shards move. */
	void reached(OwnedShard shard, MovePhase phase, MonotonicTime at) {
		if (this.coordinated) {
			this.observers.events().reached(shard, phase, at);
		}
	}

	public ShardConsumption.Listener listener() {
		return this.observers.listener();
	}

	/** Returns whether the work for each shard is measured. */
	public boolean measuresWork() {
		return this.observers.measuresWork();
	}

	/** Returns the number of an ownership that begins; each has another one, from 1. */
	public long nextOwnership() {
		return this.ownerships.incrementAndGet();
	}

	public AcquisitionPermits acquisitions() {
		return this.acquisitions;
	}

	public OutputSettings outputs() {
		return this.stores.outputs();
	}

	public FailureLog failures() {
		return this.failures;
	}

	/**
	 * Stores and streams of the shards.
	 *
	 * @param reader the control of what is read
	 * @param outputs where the records go that handlers send as parts of their calls
	 */
	public record Stores(CheckpointStore checkpoints, ShardReadControl reader, OutputSettings outputs) {

	}

	/**
	 * Clocks and threads.
	 *
	 * @param wallClock the clock of times that people read
	 * @param executor runs the workers
	 * @param timer wakes workers that wait
	 */
	public record Runtime(MonotonicClock clock, InstantSource wallClock, Executor executor,
			ScheduledExecutorService timer) {

	}

	/**
	 * How topics are consumed.
	 *
	 * @param settings the settings by topic
	 * @param budget the limit for what all shards together read ahead
	 * @param stateCache the cache of the states that are read when they are used
	 * @param stateValues converts the values of the state
	 */
	public record Topics(Function<String, ConsumerSettings> settings, BufferBudget budget, StateCache stateCache,
			StateValues stateValues) {

	}

	/**
	 * Who hears of the consumption.
	 *
	 * @param listener hears when a worker has ended
	 * @param measuresWork whether the work for each shard is measured
	 */
	public record Observers(ConsumerMeters meters, ConsumerEvents events, ShardConsumption.Listener listener,
			boolean measuresWork) {

	}

}
