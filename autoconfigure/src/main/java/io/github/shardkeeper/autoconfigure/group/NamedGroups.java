package io.github.shardkeeper.autoconfigure.group;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

import org.slf4j.Logger;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

import io.github.shardkeeper.ShardGroups;
import io.github.shardkeeper.actuate.GroupBeans;
import io.github.shardkeeper.autoconfigure.properties.GroupEnvironment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.NearestName;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The groups of {@code shardkeeper.groups}. Their contexts are created after all beans of
 * the application, start and stop in the phase of its consumers, and are closed before
 * any of its beans. Thread-safe.
 */
final class NamedGroups implements ShardGroups, GroupBeans, SmartInitializingSingleton, SmartLifecycle,
		ApplicationListener<AvailabilityChangeEvent<ReadinessState>> {

	private static final Logger logger = PrintableLogger.of(NamedGroups.class);

	private static final String MEMORY = "memory";

	private final ConfigurableApplicationContext application;

	private final Set<String> names;

	/** Empty until all beans of the application exist. */
	private volatile List<GroupContext> groups = List.of();

	private volatile boolean running;

	NamedGroups(ConfigurableApplicationContext application) {
		this.application = application;
		this.names = new TreeSet<>(GroupEnvironment.names(application.getEnvironment()));
		this.names.forEach((name) -> Names.requireValid(name, "'shardkeeper.groups'"));
		if (!GroupEnvironment.isGroup(application.getEnvironment())) {
			ShardkeeperSettings.requireNames(application.getEnvironment());
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (AotDetector.useGeneratedArtifacts()) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.groups' is set, but this application was processed ahead of time (AOT), which knows the beans of one group only.",
					"Start it without 'spring.aot.enabled' and not as a native image, or make each group an application of its own.");
		}
		DefaultListableBeanFactory beans = (DefaultListableBeanFactory) this.application.getBeanFactory();
		List<GroupContext> begun = new ArrayList<>();
		try {
			create(beans, begun);
		}
		catch (RuntimeException | Error ex) {
			begun.forEach(GroupContext::close);
			throw ex;
		}
		// Beans are destroyed in the reverse order: this before all that exist now.
		beans.registerDisposableBean("shardkeeperGroupContexts",
				(DisposableBean) () -> begun.forEach(GroupContext::close));
		this.groups = List.copyOf(begun);
	}

	private void create(DefaultListableBeanFactory beans, List<GroupContext> begun) {
		String unnamed = beans.getBeanProvider(CoordinationSettings.class)
			.stream()
			.map(CoordinationSettings::group)
			.findAny()
			.orElse("");
		for (String name : this.names) {
			if (name.equals(unnamed)) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.groups.%s' has the name of the group of 'shardkeeper.group'.".formatted(name),
						"Set 'shardkeeper.group' to another name, or move the topics to one of them.");
			}
			GroupContext group = new GroupContext(name, this.application);
			begun.add(group);
			group.create();
		}
		requireOneMemory(beans, begun);
	}

	/** A record in the memory of one group is not in that of another one. */
	private static void requireOneMemory(DefaultListableBeanFactory beans, List<GroupContext> groups) {
		Map<String, String> seen = new HashMap<>();
		beans.getBeanProvider(SourceRegistry.class).forEach((sources) -> requireOneMemory(sources, "", seen));
		groups.forEach((group) -> group.getBeanProvider(SourceRegistry.class)
			.forEach((sources) -> requireOneMemory(sources, group.name(), seen)));
	}

	private static void requireOneMemory(SourceRegistry sources, String group, Map<String, String> seen) {
		sources.names().stream().filter((topic) -> sources.name(topic).equals(MEMORY)).forEach((topic) -> {
			String other = seen.put(topic, group);
			if (other != null) {
				throw new ShardkeeperConfigurationException(
						"The topic '%s' is in memory and of two groups, '%s' and '%s', each of which would have records of its own."
							.formatted(topic, other, group),
						"Keep its records in Redis, with 'shardkeeper.store: redis', or configure it in one group.");
			}
		});
	}

	@Override
	public void start() {
		// Before: those that have begun must also stop if another one fails.
		this.running = true;
		try {
			this.groups.forEach(GroupContext::begin);
		}
		catch (RuntimeException | Error ex) {
			stop();
			throw ex;
		}
	}

	@Override
	public void stop() {
		CompletableFuture<Void> stopped = new CompletableFuture<>();
		stop(() -> stopped.complete(null));
		stopped.join();
	}

	/**
	 * Handlers of all groups return at the same time, beside those of the application.
	 */
	@Override
	public void stop(Runnable callback) {
		this.running = false;
		CompletableFuture
			.allOf(this.groups.stream()
				.map((group) -> CompletableFuture.runAsync(group::stop,
						(task) -> new Thread(task, "shardkeeper-stop-" + group.name()).start()))
				.toArray(CompletableFuture<?>[]::new))
			.whenComplete((done, failure) -> {
				if (failure != null) {
					logger.error("A group has not stopped in order; its shards move at the end of its lease", failure);
				}
				callback.run();
			});
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return ShardConsumerRunner.PHASE;
	}

	/** Child contexts publish their events here, too. */
	@Override
	public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
		boolean foreign = event.getSource() instanceof ApplicationContext other && other != this.application;
		if (event.getState() == ReadinessState.ACCEPTING_TRAFFIC && !foreign) {
			this.groups.forEach(GroupContext::ready);
		}
	}

	@Override
	public Set<String> names() {
		return Set.copyOf(this.names);
	}

	@Override
	public <T> T get(String group, Class<T> type) {
		Objects.requireNonNull(group, "group must not be null");
		Objects.requireNonNull(type, "type must not be null");
		if (!this.names.contains(group)) {
			throw new IllegalArgumentException("There is no group '%s' below 'shardkeeper.groups'; there are %s.%s"
				.formatted(group, this.names, NearestName.question(group, this.names)));
		}
		if (this.groups.isEmpty()) {
			throw new IllegalStateException(
					"The group '%s' does not exist yet: the beans of the application are being created. Call ShardGroups later, for example from a listener of ApplicationReadyEvent."
						.formatted(group));
		}
		T found = ofType(type).get(group);
		if (found == null) {
			throw new IllegalArgumentException("The group '%s' has no %s.".formatted(group, type.getName()));
		}
		return found;
	}

	@Override
	public <T> Map<String, T> ofType(Class<T> type) {
		Map<String, T> found = new TreeMap<>();
		this.groups.forEach((group) -> {
			// Not those of the application, which are of no group.
			if (group.getBeanNamesForType(type).length > 0) {
				T bean = group.getBeanProvider(type).getIfUnique();
				if (bean != null) {
					found.put(group.name(), bean);
				}
			}
		});
		return found;
	}

}
