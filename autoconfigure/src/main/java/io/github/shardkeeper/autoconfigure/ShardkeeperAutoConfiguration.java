package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Template;
import io.github.shardkeeper.handler.CallObserver;
import io.github.shardkeeper.consumer.CommittedStateReader;
import io.github.shardkeeper.consumer.ConsumerEvents;
import io.github.shardkeeper.consumer.ConsumerMeters;
import io.github.shardkeeper.consumer.ExitOnSessionLoss;
import io.github.shardkeeper.handler.MessageArguments;
import io.github.shardkeeper.consumer.PublishedEvents;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.consumer.StoredDeadLetters;
import io.github.shardkeeper.consumer.StoredRetiredTopics;
import io.github.shardkeeper.consumer.StoredShardPositions;
import io.github.shardkeeper.consumer.StartPositions;
import io.github.shardkeeper.consumer.WorkerThreads;
import io.github.shardkeeper.coordination.AssignmentSettings;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.GroupReporter;
import io.github.shardkeeper.coordination.HeartbeatScheduler;
import io.github.shardkeeper.coordination.LoopMeters;
import io.github.shardkeeper.coordination.LoopThreads;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.MonotonicClock;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.TopicGroups;
import io.github.shardkeeper.handover.HandoverRules;
import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.KeyedShardTemplate;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SendObserver;
import io.github.shardkeeper.source.SendSettings;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardSource;

/**
 * Wires coordinator, heartbeats and consumers from {@code shardkeeper.*}.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnBooleanProperty(name = "shardkeeper.enabled", matchIfMissing = true)
@EnableConfigurationProperties(ShardkeeperProperties.class)
@ImportRuntimeHints(ShardkeeperRuntimeHints.class)
@Import({ RedisStoreConfiguration.class, MemoryStoreConfiguration.class, UnknownStoreConfiguration.class,
		MessagingConfiguration.class, ObservationConfiguration.class })
public final class ShardkeeperAutoConfiguration {

	private static final Duration DEFAULT_PHASE_TIMEOUT = Duration.ofSeconds(30);

	@Bean
	@ConditionalOnMissingBean
	CoordinationSettings shardkeeperCoordinationSettings(ShardkeeperProperties properties, Environment environment,
			ObjectProvider<BuildTimeSettings> checkedBefore) {
		checkedBefore.ifAvailable(BuildTimeSettings::check);
		Duration shutdownPhase = shutdownPhase(environment);
		SettingsCheck.check(properties, shutdownPhase);
		String group = properties.group();
		String where = "shardkeeper.group";
		if (group == null || group.isEmpty()) {
			group = environment.getProperty("spring.application.name", "");
			where = "spring.application.name, which is the default of shardkeeper.group";
		}
		if (group.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"Neither 'shardkeeper.group' nor 'spring.application.name' is set.",
					"Set 'shardkeeper.group' to the name that all instances of this application share.");
		}
		String instance = properties.instanceId();
		instance = (instance != null && !instance.isEmpty()) ? Names.requireValid(instance, "shardkeeper.instance-id")
				: DefaultInstanceId.next();
		return new CoordinationSettings(Names.requireValid(group, where), instance,
				properties.session().heartbeatInterval(), properties.session().lease(), properties.session().timeout(),
				properties.rebalance().settleTime(), version(properties, environment),
				handoverRules(properties.handover(), shutdownPhase), properties.assignment().capacity(),
				zone(properties.assignment()));
	}

	private static @Nullable String zone(ShardkeeperProperties.Assignment assignment) {
		String zone = assignment.zone();
		return (zone == null || zone.isEmpty()) ? null : zone;
	}

	private static Duration shutdownPhase(Environment environment) {
		return Binder.get(environment)
			.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
			.orElse(DEFAULT_PHASE_TIMEOUT);
	}

	private static HandoverRules handoverRules(ShardkeeperProperties.Handover handover, Duration shutdownPhase) {
		return new HandoverRules(handover.timeoutWithin(shutdownPhase),
				(handover.onTimeout() == ShardkeeperProperties.OnTimeout.FORCE) ? HandoverRules.OnTimeout.FORCE
						: HandoverRules.OnTimeout.HOLD,
				handover.quietPeriod(), handover.crashQuietPeriod(), handover.maxConcurrentMoves());
	}

	/** Without a setting what Boot has found in the application's manifest. */
	private static ApplicationVersion version(ShardkeeperProperties properties, Environment environment) {
		String version = properties.version();
		if (version == null || version.isBlank()) {
			version = environment.getProperty("spring.application.version", "");
		}
		return new ApplicationVersion(version.strip());
	}

	@Bean
	@ConditionalOnMissingBean
	AssignmentSettings shardkeeperAssignmentSettings(ShardkeeperProperties properties,
			CoordinationSettings checkedSettings, Map<String, AssignmentStrategy> strategies,
			ObjectProvider<AssignmentStrategy> strategy, ObjectProvider<ShardCatalog> catalog) {
		return new AssignmentChoice(properties, strategies).choose(strategy.getIfUnique(), catalog.getIfAvailable());
	}

	@Bean
	@ConditionalOnMissingBean
	Lease shardkeeperLease(CoordinationSettings settings) {
		return new Lease(settings.lease(), MonotonicClock.SYSTEM.now());
	}

	@Bean
	@ConditionalOnMissingBean
	LoopThreads shardkeeperLoopThreads(ObjectProvider<LoopMeters> meters) {
		return new LoopThreads(MonotonicClock.SYSTEM, meters.getIfAvailable(() -> LoopMeters.NONE),
				LoopThreads.DEFAULT_STALL_LIMIT);
	}

	@Bean
	@ConditionalOnMissingBean
	MemberRuntime shardkeeperMemberRuntime(LoopThreads loops) {
		return MemberRuntime.of(loops);
	}

	@Bean
	@ConditionalOnMissingBean
	HeartbeatScheduler shardkeeperHeartbeatScheduler(CoordinationStore store, Lease lease,
			CoordinationSettings settings, MemberRuntime runtime) {
		return new HeartbeatScheduler(store, lease, settings.heartbeatInterval(), runtime);
	}

	@Bean
	@ConditionalOnMissingBean
	ShardCoordinator shardkeeperCoordinator(CoordinationSettings settings, CoordinationStore store,
			HeartbeatScheduler heartbeats, Lease lease, AssignmentSettings assignment, MemberRuntime runtime) {
		return new ShardCoordinator(settings, store, heartbeats, lease, assignment, runtime);
	}

	@Bean
	@ConditionalOnMissingBean
	PayloadConverter shardkeeperPayloadConverter(ObjectProvider<JsonMapper> mapper) {
		return new JsonPayloadConverter(mapper.getIfUnique(JsonMapper::new));
	}

	@Bean
	@ConditionalOnMissingBean
	ShardHandlerDetector shardkeeperHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter,
			ObjectProvider<MessageArguments> messages, ObjectProvider<CallObserver> observer) {
		return new ShardHandlerDetector(beans, converter, messages.getIfUnique(() -> MessageArguments.NONE),
				observer.getIfUnique());
	}

	@Bean
	@ConditionalOnMissingBean
	StartPositions shardkeeperStartPositions(ShardkeeperProperties properties, CoordinationSettings checkedSettings,
			ShardSource source, CheckpointStore checkpoints, BroadcastStores broadcast) {
		Map<String, StartPosition> positions = new TreeMap<>();
		properties.topics().forEach((name, topic) -> positions.put(name, StartPosition.parse(topic.start())));
		positions.values().removeIf(StartPosition.EARLIEST::equals);
		return new StartPositions(source, broadcast.over(checkpoints), positions, MonotonicClock.SYSTEM);
	}

	@Bean
	@ConditionalOnMissingBean
	ShardConsumerRunner shardkeeperConsumerRunner(ShardkeeperProperties properties, ShardCoordinator coordinator,
			ShardHandlerDetector detector, ShardSource source, StartPositions startPositions,
			CheckpointStore checkpoints, BroadcastStores broadcast, Lease lease, MemberRuntime runtime,
			ObjectProvider<JsonMapper> mapper, ObjectProvider<ConsumerMeters> meters, ConsumerEvents events,
			Environment environment) {
		WorkerThreads threads = new WorkerThreads(Threading.VIRTUAL.isActive(environment),
				properties.consumer().threads());
		// Less than the phase, so that an unfinished drain still leaves in order.
		return new ShardConsumerRunner(coordinator, detector, source, startPositions, broadcast.over(checkpoints),
				lease, runtime, threads,
				new ShardConsumerRunner.Consuming(new ConsumerChoice(properties).choose(),
						properties.consumer().buffer().totalSize().toBytes(), broadcast.topics(),
						properties.instanceId() != null && !properties.instanceId().isEmpty()),
				mapper.getIfUnique(JsonMapper::new), meters.getIfAvailable(() -> ConsumerMeters.NONE), events,
				shutdownPhase(environment).multipliedBy(9).dividedBy(10));
	}

	@Bean
	@ConditionalOnMissingBean
	ConsumerEvents shardkeeperConsumerEvents(ShardkeeperProperties properties, CoordinationSettings settings,
			ApplicationEventPublisher publisher) {
		PublishedEvents published = new PublishedEvents(settings.group(), publisher);
		return (properties.session().onLoss() == ShardkeeperProperties.OnLoss.EXIT)
				? new ExitOnSessionLoss(published, Runtime.getRuntime()::halt) : published;
	}

	@Bean
	@ConditionalOnMissingBean
	GroupReporter shardkeeperGroupReporter(ShardCoordinator coordinator, CoordinationStore coordinationStore,
			CheckpointStore checkpointStore, ShardConsumerRunner runner) {
		return new GroupReporter(coordinator, coordinationStore, checkpointStore, runner::problems);
	}

	@Bean
	@ConditionalOnMissingBean
	ShardStateReader shardkeeperStateReader(CheckpointStore checkpoints, BroadcastStores broadcast, ShardSource source,
			ObjectProvider<JsonMapper> mapper) {
		return new CommittedStateReader(broadcast.over(checkpoints), source, mapper.getIfUnique(JsonMapper::new));
	}

	@Bean
	@ConditionalOnMissingBean
	ShardPositions shardkeeperShardPositions(CheckpointStore checkpoints, BroadcastStores broadcast,
			CoordinationStore coordination, ObjectProvider<ShardConsumerRunner> runner, ShardSource source) {
		return new StoredShardPositions(broadcast.over(checkpoints),
				broadcast.owners(coordination::nudge, (shards) -> runner.getObject().attend(shards)), source);
	}

	/** Of the group alone: what is broadcast is each instance's own. */
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
			ShardSource source) {
		return new StoredDeadLetters(settings.group(), broadcast.over(letters),
				broadcast.owners(coordination::nudge, (shards) -> runner.getObject().attend(shards)), source);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(ShardAppender.class)
	ShardTemplate shardkeeperTemplate(ShardkeeperProperties properties, ShardSource source, ShardAppender appender,
			PayloadConverter converter, Map<String, ShardSelector> selectors, ObjectProvider<ShardSelector> selector,
			ObjectProvider<SendObserver> observer) {
		Template template = properties.template();
		return new KeyedShardTemplate(source::topics, appender, converter,
				new SendSettings(template.maxPayloadSize().toBytes(), template.maxInFlight(),
						template.maxInFlightSize().toBytes()),
				SelectorChoice.byTopic(properties.topics(), selectors), selector.getIfUnique(),
				observer.getIfUnique(() -> SendObserver.NONE));
	}

	@Bean
	@ConditionalOnBean(ShardTemplate.class)
	ShardTemplateFlush shardkeeperTemplateFlush(ShardTemplate template) {
		return new ShardTemplateFlush(template);
	}

	static Map<String, Integer> shardCounts(ShardkeeperProperties properties) {
		Map<String, Integer> counts = new TreeMap<>();
		properties.topics().forEach((name, topic) -> counts.put(name, topic.shards()));
		return counts;
	}

}
