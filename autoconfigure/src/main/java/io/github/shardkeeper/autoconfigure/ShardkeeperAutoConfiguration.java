package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardInterceptor;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardRecordFilter;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardSendInterceptor;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.autoconfigure.ShardkeeperBuildTimeAutoConfiguration.BuildTimeProperties;
import io.github.shardkeeper.autoconfigure.cluster.ClusterParametersConfiguration;
import io.github.shardkeeper.autoconfigure.cluster.ClusterToolsConfiguration;
import io.github.shardkeeper.autoconfigure.cluster.NoClusterToolsConfiguration;
import io.github.shardkeeper.autoconfigure.failure.TopicFailureHandlers;
import io.github.shardkeeper.autoconfigure.payload.ConverterSelection;
import io.github.shardkeeper.autoconfigure.payload.JsonMapperSelection;
import io.github.shardkeeper.autoconfigure.payload.MessagingConfiguration;
import io.github.shardkeeper.autoconfigure.payload.TopicPayloads;
import io.github.shardkeeper.autoconfigure.properties.GroupEnvironment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.autoconfigure.properties.SharedProperties;
import io.github.shardkeeper.autoconfigure.source.ConditionalOnTopicSource;
import io.github.shardkeeper.autoconfigure.source.KafkaSourceConfiguration;
import io.github.shardkeeper.autoconfigure.source.SlsSourceConfiguration;
import io.github.shardkeeper.autoconfigure.source.SourceSelection;
import io.github.shardkeeper.autoconfigure.source.TopicSelectors;
import io.github.shardkeeper.autoconfigure.store.BroadcastStores;
import io.github.shardkeeper.autoconfigure.store.FormerDatabase;
import io.github.shardkeeper.autoconfigure.store.JdbcTransactionConfiguration;
import io.github.shardkeeper.autoconfigure.store.MemoryStoreConfiguration;
import io.github.shardkeeper.autoconfigure.store.MeterListeners;
import io.github.shardkeeper.autoconfigure.store.RedisStoreConfiguration;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.consumer.ConsumptionSettings;
import io.github.shardkeeper.consumer.ExitOnSessionLoss;
import io.github.shardkeeper.consumer.PublishedEvents;
import io.github.shardkeeper.consumer.RegisteredConsumers;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.consumer.StartPositions;
import io.github.shardkeeper.consumer.WorkerPools;
import io.github.shardkeeper.consumer.WorkerThreads;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.handler.CallHooks;
import io.github.shardkeeper.handler.HandlerGroup;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.history.MoveRecorder;
import io.github.shardkeeper.history.MoveReporter;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.operations.housekeeping.DeadLetterExpiry;
import io.github.shardkeeper.operations.reporting.BroadcastReporter;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.stored.CommittedStateReader;
import io.github.shardkeeper.operations.stored.RoutingShardTopics;
import io.github.shardkeeper.operations.stored.StoredDeadLetters;
import io.github.shardkeeper.operations.stored.StoredRetiredTopics;
import io.github.shardkeeper.operations.stored.StoredShardPositions;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.fixed.FixedShardSource;
import io.github.shardkeeper.source.fixed.ShardNames;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.template.DuplicateSendListener;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendInterceptors;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.template.SendObservers;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.WallClock;
import io.github.shardkeeper.worker.shard.ConsumerEvents;
import io.github.shardkeeper.worker.shard.ConsumerMeters;

/**
 * Coordinator, heartbeats, consumers and the interfaces that applications inject. Only
 * those that the reference documents as replaceable are conditional on missing beans. A
 * context whose parent has all this uses the parent's.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
		"org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "shardkeeper.enabled", matchIfMissing = true)
@Conditional({ ContextHierarchy.OnNoParent.class, ShardkeeperAutoConfiguration.OnGroup.class })
@EnableConfigurationProperties(ShardkeeperProperties.class)
@Import({ SharedConfiguration.class, RedisStoreConfiguration.class, MemoryStoreConfiguration.class,
		KafkaSourceConfiguration.class, SlsSourceConfiguration.class, JdbcTransactionConfiguration.class,
		FormerDatabase.WithDatabase.class, MessagingConfiguration.class, ObservationConfiguration.class,
		ClusterToolsConfiguration.class, ClusterParametersConfiguration.class, NoClusterToolsConfiguration.class })
public final class ShardkeeperAutoConfiguration {

	/** Moves that wait to be logged, if no history is kept. */
	private static final int PENDING_MOVES = 1_000;

	/** Injected wherever a property is used: nothing starts before all are valid. */
	@Bean
	ShardkeeperSettings shardkeeperSettings(ShardkeeperProperties properties, Environment environment,
			ObjectProvider<BuildTimeProperties> buildTime) {
		buildTime.ifAvailable(BuildTimeProperties::validate);
		return new ShardkeeperSettings(properties, environment);
	}

	@Bean
	SourceSelection shardkeeperSourceSelection(ShardkeeperSettings settings, Environment environment,
			ListableBeanFactory beans) {
		return new SourceSelection(settings, environment, beans);
	}

	@Bean
	@ConditionalOnTopicSource("memory")
	MemoryStreamSource shardkeeperMemorySource(SourceSelection selection, ObjectProvider<WallClock> clock) {
		return new MemoryStreamSource(selection.shardCounts("memory"), clock.getIfAvailable(() -> WallClock.SYSTEM));
	}

	@Bean
	@ConditionalOnTopicSource(SourceSelection.FIXED)
	FixedShardSource shardkeeperFixedSource(SourceSelection selection, @Nullable Map<String, ShardNames> names) {
		return selection.fixedSource((names != null) ? names : Map.of());
	}

	@Bean
	SourceRegistry shardkeeperSourceRegistry(SourceSelection selection, @Nullable Map<String, ShardSource> sources) {
		return selection.sources((sources != null) ? sources : Map.of());
	}

	@Bean
	CoordinationSettings shardkeeperCoordinationSettings(ShardkeeperSettings settings) {
		return settings.coordination();
	}

	@Bean
	AssignmentSettings shardkeeperAssignmentSettings(ShardkeeperSettings settings,
			Map<String, AssignmentStrategy> strategies, ObjectProvider<AssignmentStrategy> strategy,
			ObjectProvider<ShardCatalog> catalog) {
		return new AssignmentSettingsFactory(settings, strategies).create(strategy.getIfUnique(),
				catalog.getIfAvailable());
	}

	@Bean
	Lease shardkeeperLease(CoordinationSettings settings) {
		return new Lease(settings.lease(), MonotonicClock.SYSTEM.now());
	}

	@Bean
	LoopThreads shardkeeperLoopThreads(ObjectProvider<LoopMeters> meters) {
		return new LoopThreads(MonotonicClock.SYSTEM, meters.getIfAvailable(() -> LoopMeters.NONE),
				LoopThreads.DEFAULT_STALL_LIMIT);
	}

	@Bean
	MemberRuntime shardkeeperMemberRuntime(LoopThreads loops) {
		return MemberRuntime.of(loops);
	}

	@Bean
	HeartbeatScheduler shardkeeperHeartbeatScheduler(CoordinationStore store, Lease lease,
			CoordinationSettings settings, MemberRuntime runtime) {
		return new HeartbeatScheduler(store, lease, settings.heartbeatInterval(), runtime);
	}

	@Bean
	ShardCoordinator shardkeeperCoordinator(CoordinationSettings settings, CoordinationStore store,
			HeartbeatScheduler heartbeats, Lease lease, AssignmentSettings assignment, MemberRuntime runtime) {
		return new ShardCoordinator(settings, store, heartbeats, lease, assignment, runtime);
	}

	@Bean
	JsonMapperSelection shardkeeperJsonMapperSelection(ShardkeeperSettings settings,
			ConfigurableListableBeanFactory beans) {
		return new JsonMapperSelection(beans, settings.properties().jsonMapper());
	}

	@Bean
	@ConditionalOnMissingBean
	PayloadConverter shardkeeperPayloadConverter(JsonMapperSelection json) {
		return new JsonPayloadConverter(json.mapper());
	}

	@Bean
	ConverterSelection shardkeeperConverterSelection(ShardkeeperSettings settings, JsonMapperSelection json,
			SourceRegistry sources, ConfigurableListableBeanFactory beans) {
		Set<String> withRecords = sources.names().stream().filter(sources::hasRecords).collect(Collectors.toSet());
		return new ConverterSelection(beans, new JsonPayloadConverter(json.mapper()), withRecords,
				settings.converters());
	}

	@Bean
	StateValues shardkeeperStateValues(JsonMapperSelection json, ObjectProvider<StateMigration<?>> migrations) {
		return new StateValues(json.mapper(), migrations.orderedStream().toList());
	}

	@Bean
	ShardHandlerDetector shardkeeperHandlerDetector(ShardkeeperSettings settings, AnnotatedBeans beans,
			ConverterSelection converters, ObjectProvider<TopicPayloads> clients,
			ObjectProvider<MessageArguments> messages, ObjectProvider<ShardRecordFilter> filters,
			ObjectProvider<ShardInterceptor> interceptors, Environment environment) {
		return new ShardHandlerDetector(beans, converters.ofTopics(clients),
				messages.getIfAvailable(() -> MessageArguments.NONE),
				CallHooks.of(filters.orderedStream().toList(), interceptors.orderedStream().toList()),
				settings.schedules())
			.of(new HandlerGroup(GroupEnvironment.name(environment), GroupEnvironment.known(environment)));
	}

	@Bean
	StartPositions shardkeeperStartPositions(ShardkeeperSettings settings, SourceRegistry sources,
			CheckpointStore checkpoints, BroadcastStores broadcast) {
		return new StartPositions(sources, broadcast.over(checkpoints), settings.startPositions(),
				MonotonicClock.SYSTEM);
	}

	/** Sources have the type, too, each for its own topics. */
	@Bean
	@Primary
	@ConditionalOnBean(ShardTopics.class)
	ShardTopics shardkeeperTopics(SourceRegistry sources, ObjectProvider<ShardTopics> beans) {
		return new RoutingShardTopics(sources,
				(topic) -> SourceSelection.capability(sources, topic, ShardTopics.class, beans));
	}

	/** With a coordination store of the application, nothing may be compared. */
	@Bean
	SettingsAgreement shardkeeperSettingsAgreement(CoordinationSettings settings, CoordinationStore store,
			ShardCoordinator coordinator, MemberRuntime runtime, ShardkeeperSettings all, SourceRegistry sources,
			ConverterSelection converters, ObjectProvider<ShardSelector> selector, ListableBeanFactory beans) {
		SharedProperties shared = new SharedProperties(all.properties(), sources, converters.otherwise(), selector,
				beans);
		SettingsAgreement agreement = new SettingsAgreement(settings, store.settings(), shared::of, runtime);
		coordinator.beforeJoin(agreement::beforeJoin);
		return agreement;
	}

	@Bean
	TopicFailureHandlers shardkeeperFailureHandlers(ShardkeeperSettings settings, ListableBeanFactory beans,
			ObjectProvider<FailureHandler> handlers) {
		return new TopicFailureHandlers(settings, beans, handlers.orderedStream().toList());
	}

	@Bean
	ConsumptionSettings shardkeeperConsumerSettings(ShardkeeperSettings settings,
			TopicFailureHandlers failureHandlers) {
		ShardkeeperProperties.Consumer consumer = settings.properties().consumer();
		return new ConsumptionSettings(settings.consumers(failureHandlers::of), consumer.buffer().totalSize().toBytes(),
				consumer.state().cacheSize().toBytes(), settings.broadcastTopics(), settings.autoStartup(),
				consumer.startup() == ShardkeeperProperties.Startup.WITH_CONTEXT);
	}

	@Bean
	ShardConsumerRunner shardkeeperConsumerRunner(ShardkeeperSettings settings, ShardCoordinator coordinator,
			SettingsAgreement agreement, ShardHandlerDetector detector, SourceRegistry sources,
			StartPositions startPositions, CheckpointStore checkpoints, BroadcastStores broadcast, Lease lease,
			MemberRuntime runtime, StateValues stateValues, ObjectProvider<ConsumerMeters> meters,
			ConsumerEvents events, ObjectProvider<OutputSettings> outputs, ConsumptionSettings consumers,
			WorkerPools pools, Environment environment) {
		ShardkeeperProperties.Consumer consumer = settings.properties().consumer();
		WorkerThreads threads = new WorkerThreads(Threading.VIRTUAL.isActive(environment), consumer.threads(),
				consumer.threadNamePrefix());
		return new ShardConsumerRunner(coordinator, agreement, detector, sources, startPositions,
				broadcast.over(checkpoints), lease, runtime, pools.of(threads), consumers, stateValues,
				meters.getIfAvailable(() -> ConsumerMeters.NONE), events,
				outputs.getIfAvailable(() -> OutputSettings.NONE), settings.leaveTimeout());
	}

	@Bean
	RegisteredConsumers shardkeeperConsumers(ShardConsumerRunner runner) {
		return new RegisteredConsumers(runner);
	}

	@Bean
	@Lazy(false)
	StartAfterReadiness shardkeeperStartAfterReadiness(ShardConsumerRunner runner, ApplicationContext context) {
		return new StartAfterReadiness(runner, context);
	}

	@Bean
	@Lazy(false)
	SettingsWithoutEffect shardkeeperSettingsWithoutEffect(ConfigurableApplicationContext context,
			ShardkeeperProperties properties, AssignmentSettings assignment, SourceRegistry sources,
			ShardConsumerRunner runner, TopicFailureHandlers failureHandlers) {
		return new SettingsWithoutEffect(context, properties, assignment, sources, runner, failureHandlers);
	}

	@Bean
	ConsumerEvents shardkeeperConsumerEvents(ShardkeeperProperties properties, CoordinationSettings settings,
			ApplicationEventPublisher publisher, MoveRecorder moves) {
		PublishedEvents published = new PublishedEvents(settings.group(), publisher, moves::reached);
		return (properties.session().onLoss() == ShardkeeperProperties.OnLoss.EXIT)
				? new ExitOnSessionLoss(published, Runtime.getRuntime()::halt) : published;
	}

	/** Has no thread before a shard moves. */
	@Bean
	MoveRecorder shardkeeperMoveRecorder(ShardCoordinator coordinator, CoordinationStore store,
			ObjectProvider<MoveHistory> history, ShardkeeperSettings settings, MemberRuntime runtime,
			ApplicationEventPublisher publisher, ObjectProvider<MeterListeners.OfMoves> meters) {
		String group = coordinator.settings().group();
		boolean kept = settings.history().maxMoves() > 0;
		PublishedEvents published = new PublishedEvents(group, publisher);
		MoveRecorder recorder = new MoveRecorder(group, kept ? history.getIfAvailable() : null, store.diagnostics(),
				kept ? settings.history().maxMoves() : PENDING_MOVES, runtime.loops(), runtime.clock(), (move) -> {
					published.moved(move);
					// The meters need the runner, whose events go through this recorder.
					meters.ifAvailable((counted) -> counted.listener().accept(move));
				}, ShardConsumerRunner.PHASE - 1);
		coordinator.addMoveListener(recorder::found);
		return recorder;
	}

	@Bean
	GroupReporter shardkeeperGroupReporter(ShardCoordinator coordinator, CoordinationStore coordinationStore,
			CheckpointStore checkpointStore, ObjectProvider<DeadLetterStore> letters, SourceRegistry sources,
			ShardConsumerRunner runner, ObjectProvider<MoveReporter> moves, BroadcastStores broadcast) {
		MoveReporter history = moves.getIfAvailable();
		DeadLetterStore stored = letters.getIfAvailable();
		return new GroupReporter(coordinator, coordinationStore, checkpointStore, stored, sources, runner::problems,
				runner::outbox, (history != null) ? history::lastMoves : (shard) -> List.of(),
				new BroadcastReporter(runner::broadcastTopics, runner::allShards, runner::problems,
						(stored != null) ? broadcast.over(stored) : null),
				MonotonicClock.SYSTEM);
	}

	@Bean
	@ConditionalOnBean(MoveHistory.class)
	MoveReporter shardkeeperMoveReporter(MoveHistory history) {
		return new MoveReporter(history);
	}

	@Bean
	@ConditionalOnMissingBean
	ShardStateReader shardkeeperStateReader(CheckpointStore checkpoints, BroadcastStores broadcast,
			SourceRegistry sources, StateValues stateValues, ObjectProvider<WallClock> clock) {
		return new CommittedStateReader(broadcast.over(checkpoints), sources, stateValues,
				clock.getIfAvailable(() -> WallClock.SYSTEM));
	}

	@Bean
	@ConditionalOnMissingBean
	ShardPositions shardkeeperShardPositions(CheckpointStore checkpoints, BroadcastStores broadcast,
			CoordinationStore coordination, ObjectProvider<ShardConsumerRunner> runner, SourceRegistry sources) {
		return new StoredShardPositions(broadcast.over(checkpoints),
				broadcast.owners(coordination::notifyOwners, (shards) -> runner.getObject().attend(shards)), sources);
	}

	/** Covers the group only: checkpoints of broadcast topics belong to an instance. */
	@Bean
	@ConditionalOnMissingBean
	RetiredTopics shardkeeperRetiredTopics(CoordinationSettings settings, CoordinationStore coordination,
			CheckpointStore checkpoints, ObjectProvider<TopicGroups> groups) {
		return new StoredRetiredTopics(settings.group(), coordination, checkpoints, groups.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(DeadLetterStore.class)
	DeadLetters shardkeeperDeadLetters(CoordinationSettings settings, DeadLetterStore letters,
			BroadcastStores broadcast, CoordinationStore coordination, ObjectProvider<ShardConsumerRunner> runner,
			SourceRegistry sources) {
		return new StoredDeadLetters(settings.group(), broadcast.over(letters),
				broadcast.owners(coordination::notifyOwners, (shards) -> runner.getObject().attend(shards)), sources);
	}

	/** Shards of broadcast topics have letters of their own on each instance. */
	@Bean
	@ConditionalOnBean(DeadLetterStore.class)
	DeadLetterExpiry shardkeeperDeadLetterExpiry(ShardkeeperSettings settings, ShardCoordinator coordinator,
			ShardConsumerRunner runner, DeadLetterStore letters, BroadcastStores broadcast, SourceRegistry sources,
			ObjectProvider<ConsumerMeters> meters, MemberRuntime runtime) {
		Set<String> apart = settings.broadcastTopics();
		ConsumerMeters counted = meters.getIfAvailable(() -> ConsumerMeters.NONE);
		return new DeadLetterExpiry(settings.deadLetterRetentions(),
				(shard) -> apart.contains(shard.topic()) ? runner.isConsuming()
						: coordinator.isLeader() || runner.owns(shard),
				sources, broadcast.over(letters), (topic, gone) -> counted.of(topic).deadLettersExpired(gone), runtime,
				ShardConsumerRunner.PHASE + 1);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(ShardAppender.class)
	ShardTemplate shardkeeperTemplate(ShardkeeperSettings settings, SourceRegistry sources,
			ObjectProvider<ShardAppender> appenders, ConverterSelection converters,
			ObjectProvider<TopicPayloads> clients, Map<String, ShardSelector> selectors,
			ObjectProvider<ShardSelector> selector, ObjectProvider<ShardSendInterceptor> interceptors,
			ObjectProvider<SendObserver> observers, ObjectProvider<DuplicateSendListener> repetitions) {
		TopicSelectors selected = TopicSelectors.of(settings, sources, appenders, selectors, selector);
		return new KeyedShardTemplate(new SourceSelection.SendableTopics(sources, appenders),
				converters.ofTopics(clients), settings.sending(), selected.byTopic(), selected.otherwise(),
				SendInterceptors.of(interceptors.orderedStream().toList()),
				SendObservers.of(observers.orderedStream().toList()),
				repetitions.getIfAvailable(() -> DuplicateSendListener.NONE));
	}

	/** The template is one of its own: an application may replace the other. */
	@Bean
	@ConditionalOnBean(ShardAppender.class)
	OutputSettings shardkeeperOutputSettings(ShardkeeperSettings settings, SourceRegistry sources,
			ObjectProvider<ShardAppender> appenders, ConverterSelection converters,
			ObjectProvider<TopicPayloads> clients, Map<String, ShardSelector> selectors,
			ObjectProvider<ShardSelector> selector, ObjectProvider<ShardSendInterceptor> interceptors) {
		ShardkeeperProperties.Outbox outbox = settings.properties().outbox();
		TopicSelectors selected = TopicSelectors.of(settings, sources, appenders, selectors, selector);
		KeyedShardTemplate template = new KeyedShardTemplate(new SourceSelection.SendableTopics(sources, appenders),
				converters.ofTopics(clients), settings.sending(), selected.byTopic(), selected.otherwise(),
				SendInterceptors.of(interceptors.orderedStream().toList()), SendObserver.NONE,
				DuplicateSendListener.NONE);
		return new OutputSettings(new SourceSelection.SequencedTopics(sources, template), outbox.maxRecords(),
				outbox.maxSize().toBytes());
	}

	@Bean
	@ConditionalOnBean(ShardTemplate.class)
	ShardTemplateFlush shardkeeperTemplateFlush(ShardTemplate template) {
		return new ShardTemplateFlush(template);
	}

	/** Matches unless all groups of the application are in contexts of their own. */
	static final class OnGroup implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return GroupEnvironment.isGroup(context.getEnvironment());
		}

	}

	/**
	 * Fails startup for an unknown {@code shardkeeper.store}, before beans are missing.
	 */
	@Configuration(proxyBeanMethods = false)
	@Conditional(UnknownStoreConfiguration.OnUnknownStore.class)
	static class UnknownStoreConfiguration {

		@Bean
		MemoryStreamSource shardkeeperSource(Environment environment) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.store' is '%s', which is not a store.".formatted(OnUnknownStore.store(environment)),
					"Set it to 'redis' or 'memory'.");
		}

		static class OnUnknownStore implements Condition {

			private static final Set<String> KNOWN = Set.of("redis", "memory");

			@Override
			public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
				return !KNOWN.contains(store(context.getEnvironment()).toLowerCase(Locale.ROOT));
			}

			static String store(Environment environment) {
				return environment.getProperty("shardkeeper.store", "redis");
			}

		}

	}

}
