package io.github.shardkeeper.consumer;

import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.member.ShardConsumption;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.handler.CallHooks;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.state.StateCache;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.worker.record.BufferBudget;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Real workers with the handlers of one bean, on threads and clocks of a test's choice.
 */
public final class SimulatedConsumers {

	/** Room for a few entries only. */
	private static final int STATE_CACHE_BYTES = 1_500;

	private final JsonMapper mapper = new JsonMapper();

	private final Map<String, ShardHandler> handlers;

	/** Finds the handlers of a bean. */
	public SimulatedConsumers(Object bean, Map<String, Integer> topics) {
		this(bean, topics, TopicSchedule.NONE);
	}

	/** The same, with a schedule for all topics, which have no records then. */
	public SimulatedConsumers(Object bean, Map<String, Integer> topics, TopicSchedule schedule) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerSingleton("handlers", bean);
		this.handlers = new ShardHandlerDetector(new AnnotatedBeans(beans), new JsonPayloadConverter(this.mapper),
				MessageArguments.NONE, CallHooks.NONE, (topic) -> schedule)
			.detect(topics, (topic) -> schedule == TopicSchedule.NONE);
	}

	/** The workers of one process, which consume all topics in the same way. */
	public ShardConsumption workers(ConsumerSettings settings, CheckpointStore checkpoints, ShardReader reader,
			Lease lease, MonotonicClock clock, Executor executor, ScheduledExecutorService timer,
			ShardConsumption.Listener listener) {
		return workers(settings, checkpoints, reader, lease, clock, InstantSource.fixed(Instant.EPOCH), executor, timer,
				List.of(), listener);
	}

	/** The same, with a clock on the wall and versions of values. */
	public ShardConsumption workers(ConsumerSettings settings, CheckpointStore checkpoints, ShardReader reader,
			Lease lease, MonotonicClock clock, InstantSource wallClock, Executor executor,
			ScheduledExecutorService timer, List<? extends StateMigration<?>> migrations,
			ShardConsumption.Listener listener) {
		return new ShardWorkers(this.handlers,
				new WorkerContext("group", new WorkerContext.Stores(checkpoints, reader, OutputSettings.NONE),
						new WorkerContext.Runtime(clock, wallClock, executor, timer),
						new WorkerContext.Topics((topic) -> settings, new BufferBudget(Long.MAX_VALUE),
								new StateCache(STATE_CACHE_BYTES), new StateValues(this.mapper, migrations)),
						new WorkerContext.Observers(ConsumerMeters.NONE, ConsumerEvents.NONE, listener, false), lease),
				new SessionWatch(Optional::empty, ConsumerEvents.NONE), executor, new ConsumerStates((topic) -> true),
				null, null);
	}

}
