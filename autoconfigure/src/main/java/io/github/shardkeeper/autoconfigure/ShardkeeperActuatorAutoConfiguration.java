package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.actuate.ClusterParametersEndpoint;
import io.github.shardkeeper.actuate.ClusterParametersWebExtension;
import io.github.shardkeeper.actuate.EndpointFieldCheck;
import io.github.shardkeeper.actuate.EndpointGroups;
import io.github.shardkeeper.actuate.GroupBeans;
import io.github.shardkeeper.actuate.LoopsHealthIndicator;
import io.github.shardkeeper.actuate.MicrometerConsumerMeters;
import io.github.shardkeeper.actuate.MicrometerGroupMeters;
import io.github.shardkeeper.actuate.MicrometerLoopMeters;
import io.github.shardkeeper.actuate.MicrometerScriptMeters;
import io.github.shardkeeper.actuate.MicrometerSendMeters;
import io.github.shardkeeper.actuate.MicrometerSendRepetitions;
import io.github.shardkeeper.actuate.ShardMovesEndpoint;
import io.github.shardkeeper.actuate.ShardMovesWebExtension;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.actuate.ShardsWebExtension;
import io.github.shardkeeper.autoconfigure.cluster.ClusterParametersConfiguration.ParametersInUse;
import io.github.shardkeeper.autoconfigure.cluster.ClusterToolsProblem;
import io.github.shardkeeper.autoconfigure.source.KafkaClientMeters;
import io.github.shardkeeper.autoconfigure.store.BroadcastStores;
import io.github.shardkeeper.autoconfigure.store.MeterListeners;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.consumer.PublishedEvents;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.SettingsAgreement;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.history.MoveFollower;
import io.github.shardkeeper.history.MoveReporter;
import io.github.shardkeeper.kafka.KafkaShardSource;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.observation.CallObservations;
import io.github.shardkeeper.observation.SendObservations;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.reporting.ConsumptionSampler;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.OperationAudit;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.template.DuplicateSendListener;
import io.github.shardkeeper.template.SendObserver;
import io.github.shardkeeper.worker.shard.ConsumerMeters;

/** Endpoint, health and meters, each if its library is on the class path. */
@AutoConfiguration(after = ShardkeeperAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@Conditional(ShardkeeperActuatorAutoConfiguration.OnAnyGroup.class)
public final class ShardkeeperActuatorAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
	@EnableConfigurationProperties(ShardsProperties.class)
	static class EndpointConfiguration {

		@Bean
		@ConditionalOnBean(ShardCoordinator.class)
		OperationAudit shardkeeperOperationAudit(CoordinationSettings settings, ApplicationEventPublisher publisher) {
			return new OperationAudit(settings.group(), new PublishedEvents(settings.group(), publisher)::operated);
		}

		@Bean
		@ConditionalOnAvailableEndpoint
		ShardsEndpoint shardsEndpoint(ObjectProvider<GroupReporter> reporter, ObjectProvider<CoordinationSettings> own,
				ObjectProvider<GroupBeans> named) {
			return new ShardsEndpoint(groups(GroupReporter.class, reporter, own, named));
		}

		@Bean
		@ConditionalOnBean(ShardsEndpoint.class)
		ShardsWebExtension shardsWebExtension(ShardsEndpoint endpoint, ObjectProvider<ShardOperations> operations,
				ObjectProvider<CoordinationSettings> own, ObjectProvider<GroupBeans> named,
				ShardsProperties properties) {
			return new ShardsWebExtension(endpoint, groups(ShardOperations.class, operations, own, named),
					properties.showValues(), Objects.requireNonNullElse(properties.roles(), Set.of()));
		}

		@Bean
		@ConditionalOnBean({ ShardsEndpoint.class, ShardCoordinator.class })
		ShardOperations shardkeeperShardOperations(CoordinationSettings settings, GroupReporter reporter,
				SourceRegistry sources, BroadcastStores broadcast, ShardCoordinator coordinator,
				CoordinationStore coordination, CheckpointStore checkpoints, ShardPositions positions,
				ObjectProvider<DeadLetters> letters, ShardConsumerRunner runner, ConfigurableApplicationContext context,
				OperationAudit audit) {
			return new ShardOperations(settings, reporter, sources, broadcast.topics(), coordinator, coordination,
					broadcast.over(checkpoints), positions, letters.getIfAvailable(),
					broadcast.owners(coordination::notifyOwners, runner::attend), runner, context::isClosed, audit);
		}

		@Bean
		EndpointFieldCheck shardkeeperEndpointFieldCheck() {
			return new EndpointFieldCheck();
		}

		@Bean
		@ConditionalOnAvailableEndpoint
		@Conditional(OnAnyHistory.class)
		ShardMovesEndpoint shardMovesEndpoint(ObjectProvider<MoveReporter> reporter,
				ObjectProvider<CoordinationSettings> own, ObjectProvider<GroupBeans> named) {
			return new ShardMovesEndpoint(groups(MoveReporter.class, reporter, own, named));
		}

		private static <T> EndpointGroups<T> groups(Class<T> type, ObjectProvider<T> beans,
				ObjectProvider<CoordinationSettings> own, ObjectProvider<GroupBeans> named) {
			T bean = beans.getIfAvailable();
			GroupBeans others = named.getIfAvailable();
			return new EndpointGroups<>((bean != null) ? Map.of(own.getObject().group(), bean) : Map.of(),
					() -> (others != null) ? others.ofType(type) : Map.of());
		}

		@Bean
		@ConditionalOnBean(ShardMovesEndpoint.class)
		ShardMovesWebExtension shardMovesWebExtension(ShardMovesEndpoint endpoint) {
			return new ShardMovesWebExtension(endpoint);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class, ClusterParameters.class })
	static class ClusterParametersEndpointConfiguration {

		@Bean
		@ConditionalOnAvailableEndpoint
		@ConditionalOnBean(ParametersInUse.class)
		ClusterParametersEndpoint clusterParametersEndpoint(ParametersInUse parameters) {
			return new ClusterParametersEndpoint(parameters::find);
		}

		@Bean
		@ConditionalOnBean(ClusterParametersEndpoint.class)
		ClusterParametersWebExtension clusterParametersWebExtension(ClusterParametersEndpoint endpoint) {
			return new ClusterParametersWebExtension(endpoint);
		}

	}

	/**
	 * Properties of the endpoint.
	 *
	 * @param showValues When to show keys, payloads and texts of exceptions of dead
	 * letters.
	 * @param roles Roles that a user needs one of to see these values with
	 * 'when-authorized'. Without roles every authenticated user sees them. Not empty.
	 */
	@ConfigurationProperties("management.endpoint.shards")
	record ShardsProperties(@DefaultValue("never") Show showValues, @Nullable Set<String> roles) {

		ShardsProperties {
			if (roles != null && roles.isEmpty()) {
				// Would let everybody see what was to be for some: a variable has no
				// value.
				throw new ShardkeeperConfigurationException(
						"'management.endpoint.shards.roles' is empty: every authenticated user would see the values.",
						"Name at least one role, and if they come from a variable, check that it is set; or remove the property.");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
	@ConditionalOnBean(ShardCoordinator.class)
	@EnableConfigurationProperties(HealthProperties.class)
	static class HealthConfiguration {

		@Bean
		@ConditionalOnEnabledHealthIndicator("shardkeeper")
		@ConditionalOnMissingBean(name = { "shardkeeperHealthIndicator", "shardkeeperHealthContributor" })
		ShardkeeperHealthIndicator shardkeeperHealthIndicator(ShardCoordinator coordinator, SettingsAgreement agreement,
				ShardConsumerRunner runner, LoopThreads loops, ObjectProvider<ClusterToolsProblem> clusterTools,
				HealthProperties properties) {
			return new ShardkeeperHealthIndicator(coordinator, agreement, runner, loops,
					() -> Optional.ofNullable(clusterTools.getIfAvailable()).flatMap(ClusterToolsProblem::find),
					new Status(properties.problemStatus()), properties.outageTolerance());
		}

		@Bean
		@ConditionalOnBooleanProperty("management.health.shardkeeper.loops.enabled")
		@ConditionalOnMissingBean(name = { "shardkeeperLoopsHealthIndicator", "shardkeeperLoopsHealthContributor" })
		LoopsHealthIndicator shardkeeperLoopsHealthIndicator(LoopThreads loops) {
			return new LoopsHealthIndicator(loops);
		}

	}

	/**
	 * Properties of the health indicators.
	 *
	 * @param problemStatus Status if a person has to act. With 'UP' or 'UNKNOWN',
	 * problems are details only.
	 * @param outageTolerance Time without a lease, or without replies to what a shard
	 * needs, after which a person has to act. Until then the status is 'UNKNOWN' without
	 * a lease, and 'UP' with one. At least 0s.
	 * @param loops Health indicator 'shardkeeperLoops', for liveness probes.
	 */
	@ConfigurationProperties("management.health.shardkeeper")
	record HealthProperties(@DefaultValue("DOWN") String problemStatus, @DefaultValue("30s") Duration outageTolerance,
			@DefaultValue Loops loops) {

		HealthProperties {
			if (problemStatus.isBlank()) {
				throw new ShardkeeperConfigurationException("'management.health.shardkeeper.problem-status' is blank",
						"Write a status, for example DOWN or OUT_OF_SERVICE, or remove the property");
			}
			if (outageTolerance.isNegative()) {
				throw new ShardkeeperConfigurationException(
						"'management.health.shardkeeper.outage-tolerance' is negative",
						"Write 0s or more, for example 30s");
			}
		}

		/**
		 * Health indicator of the loops.
		 *
		 * @param enabled Whether there is a health indicator 'shardkeeperLoops', which is
		 * down if one of Shardkeeper's threads hangs for a minute. Include it in the
		 * group 'liveness' to have such an instance restarted.
		 */
		record Loops(@DefaultValue("false") boolean enabled) {

		}

	}

	/**
	 * Properties of the meters.
	 *
	 * @param sampleInterval Time between two readings of lag, dead letters, retries and
	 * states of shards. With 0s there are no such meters. At least 1s, or 0s.
	 * @param perShard Whether meters of lag, dead letters and retries have a tag for the
	 * shard. Their number grows with that of the shards.
	 */
	@ConfigurationProperties("management.metrics.shardkeeper")
	record MeterProperties(@DefaultValue("30s") Duration sampleInterval, @DefaultValue("false") boolean perShard) {

		MeterProperties {
			if (!sampleInterval.isZero() && sampleInterval.compareTo(Duration.ofSeconds(1)) < 0) {
				throw new ShardkeeperConfigurationException(
						"'management.metrics.shardkeeper.sample-interval' is less than 1s",
						"Write 1s or more, for example 30s, or 0s for no samples");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ KafkaClientMetrics.class, KafkaShardSource.class })
	@ConditionalOnBean({ MeterRegistry.class, KafkaShardSource.class })
	static class KafkaMeterConfiguration {

		@Bean
		KafkaClientMeters shardkeeperKafkaClientMeters(MeterRegistry registry) {
			return new KafkaClientMeters(registry);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean({ MeterRegistry.class, ShardCoordinator.class })
	@EnableConfigurationProperties(MeterProperties.class)
	static class MeterConfiguration {

		@Bean
		MicrometerGroupMeters shardkeeperGroupMeters(MeterRegistry registry, ShardCoordinator coordinator,
				HeartbeatScheduler heartbeats, MeterProperties properties) {
			MicrometerGroupMeters meters = new MicrometerGroupMeters(registry, coordinator, properties.perShard());
			heartbeats.onReply(meters::heartbeatAnswered);
			coordinator.onPlan(meters::planComputed);
			return meters;
		}

		@Bean
		MeterListeners.OfScripts shardkeeperScriptMeters(MeterRegistry registry, CoordinationSettings settings) {
			return new MeterListeners.OfScripts(new MicrometerScriptMeters(registry, settings.group())::answered);
		}

		@Bean
		MeterListeners.OfMoves shardkeeperMoveMeters(MicrometerGroupMeters meters) {
			return new MeterListeners.OfMoves(meters::moved);
		}

		@Bean
		ConsumptionSampler shardkeeperConsumptionSampler(ShardCoordinator coordinator, CoordinationStore store,
				CheckpointStore checkpoints, ObjectProvider<DeadLetterStore> letters, BroadcastStores broadcast,
				SourceRegistry sources, ShardConsumerRunner runner, ObjectProvider<MoveReporter> history,
				MemberRuntime runtime, MeterProperties properties, MicrometerGroupMeters meters) {
			DeadLetterStore stored = letters.getIfAvailable();
			MoveReporter moves = history.getIfAvailable();
			return new ConsumptionSampler(
					new ConsumptionSampler.Stores(store, broadcast.over(checkpoints),
							(stored != null) ? broadcast.over(stored) : null, sources),
					new ConsumptionSampler.Consumption(runner::topics, runner::broadcastTopics, runner::allShards,
							runner::problems, runner::activity),
					coordinator::isLeader, (moves != null) ? new MoveFollower(moves)::next : (leads) -> List.of(),
					runtime, InstantSource.system(), properties.sampleInterval(), ShardConsumerRunner.PHASE + 1,
					meters::sampled);
		}

		@Bean
		@ConditionalOnMissingBean(ConsumerMeters.class)
		MicrometerConsumerMeters shardkeeperConsumerMeters(MeterRegistry registry, CoordinationSettings settings,
				ObjectProvider<CallObservations> observations) {
			boolean observed = observations.getIfAvailable() != null;
			return new MicrometerConsumerMeters(registry, settings.group(), !observed);
		}

		/** An observation of each record has a timer of the same name. */
		@Bean
		@Order(Ordered.HIGHEST_PRECEDENCE)
		SendObserver shardkeeperSendMeters(MeterRegistry registry, ObjectProvider<SendObservations> observations) {
			return (observations.getIfAvailable() != null) ? SendObserver.NONE : new MicrometerSendMeters(registry);
		}

		@Bean
		@ConditionalOnMissingBean(DuplicateSendListener.class)
		MicrometerSendRepetitions shardkeeperSendRepetitions(MeterRegistry registry) {
			return new MicrometerSendRepetitions(registry);
		}

		@Bean
		@ConditionalOnMissingBean(LoopMeters.class)
		MicrometerLoopMeters shardkeeperLoopMeters(MeterRegistry registry, CoordinationSettings settings) {
			return new MicrometerLoopMeters(registry, settings.group());
		}

	}

	/** Matches if there is a group, here or in a context of its own. */
	static final class OnAnyGroup extends AnyNestedCondition {

		OnAnyGroup() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnBean(ShardCoordinator.class)
		static class Own {

		}

		@ConditionalOnBean(GroupBeans.class)
		static class Named {

		}

	}

	/** Matches if there may be a history of moves. */
	static final class OnAnyHistory extends AnyNestedCondition {

		OnAnyHistory() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnBean(MoveReporter.class)
		static class Own {

		}

		@ConditionalOnBean(GroupBeans.class)
		static class Named {

		}

	}

}
