package io.github.shardkeeper.test.slice;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;

import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.consumer.ConsumptionSettings;
import io.github.shardkeeper.consumer.StartPositions;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.handler.HandlerDetection;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handler.ShardHandlerDetector;
import io.github.shardkeeper.output.OutputSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.fixed.FixedShardSource;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.state.value.StateValues;

/**
 * What all instances of a test have in common: the application's beans, its stores, and
 * its handlers, which are detected once for all tests with the same context. Confined to
 * one thread at a time.
 */
final class TestGroup implements SmartInitializingSingleton {

	private final ApplicationContext context;

	private final List<Class<?>> named;

	/** Those that were looked up: a search by type takes longer than most of a step. */
	private final Map<Class<?>, Object> beans = new HashMap<>();

	private @Nullable OutputSettings outputs;

	private Map<String, ShardHandler> handlers = Map.of();

	/**
	 * Creates a group.
	 * @param named the classes of the handlers that are consumed, empty for all
	 */
	TestGroup(ApplicationContext context, List<Class<?>> named) {
		this.context = context;
		this.named = List.copyOf(named);
	}

	/** Fails the start of the context, as a wrong handler does in an application. */
	@Override
	public void afterSingletonsInstantiated() {
		SourceRegistry sources = sources();
		Map<String, ShardHandler> found = new TreeMap<>(detector().detect(sources.topics(), sources::hasRecords));
		for (Class<?> type : this.named) {
			if (found.values().stream().noneMatch((handler) -> belongsTo(handler, type))) {
				throw new ShardkeeperConfigurationException(
						"@ShardkeeperTest names %s, which has no @ShardConsumer method of the group of 'shardkeeper.group'."
							.formatted(type.getName()),
						"Name the classes of handlers, and add other beans with @Import.");
			}
		}
		if (!this.named.isEmpty()) {
			found.values().removeIf((handler) -> this.named.stream().noneMatch((type) -> belongsTo(handler, type)));
		}
		if (found.isEmpty()) {
			throw new ShardkeeperConfigurationException("No bean has a @ShardConsumer method.",
					"Name the classes of the handlers, as in @ShardkeeperTest(VisitCounter.class).");
		}
		Set<String> broadcast = consumers().broadcastTopics();
		found.keySet().forEach((topic) -> check(topic, sources.of(topic), broadcast));
		this.handlers = found;
	}

	private static boolean belongsTo(ShardHandler handler, Class<?> type) {
		Class<?> declaring = handler.declaringClass();
		return declaring.isAssignableFrom(type) || type.isAssignableFrom(declaring);
	}

	private static void check(String topic, ShardSource source, Set<String> broadcast) {
		if (broadcast.contains(topic)) {
			throw new ShardkeeperConfigurationException(
					"The topic '%s' is a broadcast topic, which @ShardkeeperTest cannot step through.".formatted(topic),
					"Test its handler with @SpringBootTest, and name the others in @ShardkeeperTest.");
		}
		if (!(source instanceof MemoryStreamSource) && !(source instanceof FixedShardSource)) {
			throw new ShardkeeperConfigurationException(
					"The topic '%s' is read from a %s, which @ShardkeeperTest cannot step through.".formatted(topic,
							source.getClass().getName()),
					"Define the ShardSource bean in a @Configuration class of its own, which the test leaves out.");
		}
	}

	private <T> T bean(Class<T> type) {
		Object bean = this.beans.get(type);
		if (bean == null) {
			bean = this.context.getBean(type);
			this.beans.put(type, bean);
		}
		return type.cast(bean);
	}

	Map<String, ShardHandler> handlers() {
		return this.handlers;
	}

	/** Returns what finds the handlers again without searching. */
	HandlerDetection detection() {
		return new HandlerDetection() {

			@Override
			public Map<String, ShardHandler> detect(Map<String, ?> topics, Predicate<String> hasRecords) {
				return TestGroup.this.handlers;
			}

			@Override
			public Map<String, ShardHandler> detect(Object bean, @Nullable String topic, Map<String, ?> topics,
					Predicate<String> hasRecords) {
				return detector().detect(bean, topic, topics, hasRecords);
			}

		};
	}

	private ShardHandlerDetector detector() {
		return bean(ShardHandlerDetector.class);
	}

	PayloadConverter converter() {
		return detector().converter();
	}

	MemoryStreamSource source() {
		return bean(MemoryStreamSource.class);
	}

	SourceRegistry sources() {
		return bean(SourceRegistry.class);
	}

	MemoryCoordinationStore coordination() {
		return bean(MemoryCoordinationStore.class);
	}

	MemoryCheckpointStore checkpoints() {
		return bean(MemoryCheckpointStore.class);
	}

	CoordinationSettings settings() {
		return bean(CoordinationSettings.class);
	}

	/** The application's own strategy is called on the thread of the test, too. */
	AssignmentSettings assignment() {
		AssignmentSettings of = bean(AssignmentSettings.class);
		return new AssignmentSettings(of.name(), of.strategy(), of.catalog(), false, of.timeout(), of.loads());
	}

	StartPositions startPositions() {
		return bean(StartPositions.class);
	}

	ConsumptionSettings consumers() {
		return bean(ConsumptionSettings.class);
	}

	StateValues stateValues() {
		return bean(StateValues.class);
	}

	OutputSettings outputs() {
		OutputSettings known = this.outputs;
		if (known == null) {
			known = this.context.getBeanProvider(OutputSettings.class).getIfAvailable(() -> OutputSettings.NONE);
			this.outputs = known;
		}
		return known;
	}

	ApplicationEventPublisher publisher() {
		return this.context;
	}

}
