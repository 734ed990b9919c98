package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.ShardConsumers.State;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.handler.HandlerDetection;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;

/**
 * Runs the application's handlers on this instance: a {@link Consumption} from each start
 * to its stop, and what others ask of the one that is running. It starts after the web
 * server, so that the server replies before the first record is handled. It stops before
 * the web server, while the connections to Redis are open. Beans in later phases,
 * including the default phase, start after it and stop before it. Thread-safe.
 */
public final class ShardConsumerRunner implements SmartLifecycle {

	/** After the web server at start, before it at stop. */
	public static final int PHASE = DEFAULT_PHASE - 512;

	private static final Logger logger = PrintableLogger.of(ShardConsumerRunner.class);

	private final InstanceParts instance;

	private final ConsumerStates states;

	private final ConsumedHandlers handlers;

	private final HandlerChanges changes;

	private final Duration stopTimeout;

	private volatile @Nullable Consumption running;

	/** Some of its workers may not have ended. */
	private volatile @Nullable Consumption earlier;

	/** Whether it was started without handlers: the first one starts the rest. */
	private volatile boolean idle;

	/** Whether it was started once: from then on it starts with its context. */
	private volatile boolean startedBefore;

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
			MemberRuntime runtime, ConsumerRuntime threads, ConsumptionSettings settings, StateValues stateValues,
			ConsumerMeters meters, ConsumerEvents events, OutputSettings outputs, Duration stopTimeout) {
		this.states = new ConsumerStates(settings.autoStartup());
		this.instance = new InstanceParts(coordinator, agreement, sources, startPositions, checkpoints, lease, runtime,
				threads, settings, stateValues, meters, events, outputs, this.states);
		this.handlers = new ConsumedHandlers(detector, sources,
				(topic, handler) -> settings.check(topic, handler, checkpoints));
		this.changes = new HandlerChanges(this.handlers, this.states, () -> this.running, this::ended, this::execute);
		this.stopTimeout = stopTimeout;
	}

	/**
	 * Finds and checks the handlers without starting.
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if one is not
	 * supported
	 */
	public Map<String, ShardHandler> checkedHandlers() {
		synchronized (this.changes) {
			return this.handlers.find();
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
			Map<String, ShardHandler> found = checkedHandlers();
			this.idle = found.isEmpty();
			if (this.idle) {
				logger.info("No @ShardConsumer method: this instance does not join group '{}'",
						this.instance.coordinator().settings().group());
				return;
			}
			Consumption current = Consumption.create(this.instance, found, this.earlier);
			this.running = current;
			try {
				current.begin();
			}
			catch (RuntimeException | Error ex) {
				end(current);
				throw ex;
			}
		}
	}

	@Override
	public synchronized void stop() {
		this.idle = false;
		Consumption current = this.running;
		if (current == null) {
			return;
		}
		try {
			synchronized (this.changes) {
				current.prepareStop();
			}
			current.stop(this.stopTimeout);
		}
		finally {
			end(current);
		}
	}

	private void end(Consumption current) {
		current.end();
		this.earlier = current;
		this.running = null;
	}

	/** Adds the handlers of an object, and starts with them if it is idle. */
	Set<String> register(Object bean, @Nullable String topic) {
		Set<String> topics = this.changes.register(bean, topic);
		startIfIdle(topics);
		return topics;
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

	CompletableFuture<Void> remove(String topic) {
		return this.changes.remove(topic);
	}

	void requireHandler(String topic) {
		this.handlers.require(topic);
	}

	ConsumerStates states() {
		return this.states;
	}

	/** Changes the state of a topic that has a handler. Does not wait for anything. */
	void change(String topic, State state) {
		this.states.set(topic, state);
		Consumption current = this.running;
		if (current != null) {
			current.stateChanged(topic, state);
		}
	}

	/**
	 * Runs a task of the application on a thread that calls handlers, so that it does not
	 * keep those that end shards; on this one if these threads have ended.
	 */
	void execute(Runnable task) {
		Consumption last = last();
		try {
			if (last != null) {
				last.execute(task);
				return;
			}
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The threads for handlers have ended", ex);
		}
		task.run();
	}

	/**
	 * Returns a future that completes once all current workers of a topic have ended;
	 * after a stop, those whose calls have not returned.
	 */
	CompletableFuture<Void> ended(String topic) {
		Consumption last = last();
		return (last != null) ? last.ended(topic) : CompletableFuture.completedFuture(null);
	}

	private @Nullable Consumption last() {
		Consumption current = this.running;
		return (current != null) ? current : this.earlier;
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
		return this.instance.settings().startsWithContext() || this.startedBefore;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

	/**
	 * Returns whether this instance is a member of its group, or tries to join it. It
	 * does not if it consumes broadcast topics only.
	 */
	public boolean isCoordinated() {
		Consumption current = this.running;
		return current != null && current.isCoordinated();
	}

	/** Processes requests for broadcast shards; the coordinator does that for others. */
	public void attend(Collection<ShardId> shards) {
		Consumption current = this.running;
		if (current != null) {
			current.attend(shards);
		}
	}

	/**
	 * Returns the topics that have a handler, stopped ones included, without broadcast
	 * topics; empty if not running.
	 */
	public Set<String> topics() {
		return seen(ConsumptionView::topics, Set.of());
	}

	/**
	 * Returns the broadcast topics that have a handler, stopped ones included; empty if
	 * not running.
	 */
	public Set<String> broadcastTopics() {
		return seen(ConsumptionView::broadcastTopics, Set.of());
	}

	/** Returns the topics with a handler that is paused or stopped on this instance. */
	public Map<String, State> restingTopics() {
		return seen(ConsumptionView::restingTopics, Map.of());
	}

	/** Returns the problem of each consumed topic whose shards cannot be found. */
	public Map<String, String> topicProblems() {
		return seen(ConsumptionView::topicProblems, Map.of());
	}

	/** Returns the consumed topics whose records come later because of a quota. */
	public Map<String, String> throttled() {
		return seen(ConsumptionView::throttled, Map.of());
	}

	/**
	 * Returns the texts of {@link #shardProblems()}, and which other shards the
	 * application has paused.
	 */
	public Map<ShardId, String> problems() {
		return seen(ConsumptionView::problems, Map.of());
	}

	/** Returns the problem of each shard of this instance that cannot be consumed. */
	public Map<ShardId, ShardProblem> shardProblems() {
		return seen(ConsumptionView::shardProblems, Map.of());
	}

	/**
	 * Returns what waits in the outbox of a shard of the group; {@code null} if this
	 * instance does not consume the shard, or the shard has never sent anything.
	 */
	public @Nullable OutboxReport outbox(ShardId shard) {
		Consumption current = this.running;
		return (current != null) ? current.view().outbox(shard) : null;
	}

	/**
	 * Returns what this instance has done with a shard, also of a broadcast topic;
	 * {@code null} if it does not consume the shard.
	 */
	public @Nullable ShardActivity activity(ShardId shard) {
		Consumption current = this.running;
		return (current != null) ? current.view().activity(shard) : null;
	}

	/** Returns the shards of the group that this instance consumes or still drains. */
	public Set<ShardId> shards() {
		return seen(ConsumptionView::shards, Set.of());
	}

	/** Returns {@link #shards()} and those of broadcast topics. */
	public Set<ShardId> allShards() {
		return seen(ConsumptionView::allShards, Set.of());
	}

	/** Returns whether {@link #shards} has a shard. */
	public boolean owns(ShardId shard) {
		return seen((view) -> view.owns(shard), false);
	}

	private <T> T seen(Function<ConsumptionView, T> seen, T ifNotRunning) {
		Consumption current = this.running;
		return (current != null) ? seen.apply(current.view()) : ifNotRunning;
	}

}
