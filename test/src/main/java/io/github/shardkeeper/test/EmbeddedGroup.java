package io.github.shardkeeper.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

/**
 * Several Spring Boot applications in this JVM as instances of one group. Each group has
 * a name and keys of its own, and closes its instances after the test:
 *
 * <pre>{@code
 * EmbeddedGroup group = EmbeddedGroup.onRedis("shardkeeper.topics.visits.shards=4");
 * ConfigurableApplicationContext one = group.start(VisitsApplication.class, "one");
 * ConfigurableApplicationContext two = group.start(VisitsApplication.class, "two");
 * // … send, wait until both instances own shards …
 * group.kill("one");
 * }</pre>
 *
 * Needs Spring Boot and the Shardkeeper starter. Register it with
 * {@code @RegisterExtension} as a field of the instance, not of the class, or close it
 * yourself. Confined to one thread at a time.
 */
public final class EmbeddedGroup implements AfterEachCallback, AutoCloseable {

	private final String name = "test-" + UUID.randomUUID();

	/** The Redis of the group, {@code null} for one in memory. */
	private final @Nullable EmbeddedRedis redis;

	private final SharedMemory memory = new SharedMemory();

	private final Map<String, String> properties = new LinkedHashMap<>();

	private final Map<String, FaultyProxy> networks = new LinkedHashMap<>();

	private final List<FaultyProxy> openedNetworks = new ArrayList<>();

	private final List<ConfigurableApplicationContext> started = new ArrayList<>();

	private EmbeddedGroup(@Nullable EmbeddedRedis redis, String... properties) {
		this.redis = redis;
		add(this.properties, "shardkeeper.group=" + this.name, "shardkeeper.key-prefix=" + this.name,
				"shardkeeper.store=" + ((redis != null) ? "redis" : "memory"), "spring.main.banner-mode=off");
		add(this.properties, properties);
	}

	/**
	 * Creates a group in memory. Its instances share stores and topics; the topics are
	 * those of the instance that starts first. An application may define its own
	 * {@link ShardSource}. Broadcast topics are kept per instance and end with it.
	 * @param properties properties of all instances, as {@code name=value}
	 * @return the group, without instances
	 */
	public static EmbeddedGroup inMemory(String... properties) {
		return new EmbeddedGroup(null, properties);
	}

	/**
	 * Creates a group on the Redis that all tests of this JVM share. As with every new
	 * group on Redis, the first instance gets its shards after one lease (3 s by
	 * default).
	 * @param properties properties of all instances, as {@code name=value}
	 * @return the group, without instances
	 */
	public static EmbeddedGroup onRedis(String... properties) {
		return onRedis(EmbeddedRedis.shared(), properties);
	}

	/**
	 * Creates a group on a Redis of the test, which may stop and restart it. The test
	 * closes it after the group.
	 * @param redis the Redis
	 * @param properties properties of all instances, as {@code name=value}
	 * @return the group, without instances
	 */
	public static EmbeddedGroup onRedis(EmbeddedRedis redis, String... properties) {
		return new EmbeddedGroup(redis, properties);
	}

	/**
	 * Returns the name of the group, which is also the prefix of all its keys.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Starts an instance and waits until its application has started.
	 * @param application the configuration class of the application
	 * @param instance the instance id
	 * @param properties properties of this instance, as {@code name=value}; they override
	 * those of the group
	 * @return the application
	 */
	public ConfigurableApplicationContext start(Class<?> application, String instance, String... properties) {
		return start(new SpringApplicationBuilder(application), instance, properties);
	}

	/**
	 * Starts an instance of an application that is not defined by a class alone, and
	 * waits until it has started.
	 * @param application the application, without a web server
	 * @param instance the instance id
	 * @param properties properties of this instance, as {@code name=value}; they override
	 * those of the group
	 * @return the application
	 */
	public ConfigurableApplicationContext start(SpringApplicationBuilder application, String instance,
			String... properties) {
		Map<String, String> all = new LinkedHashMap<>();
		if (this.redis != null) {
			add(all, "spring.data.redis.port=" + open(instance, this.redis).port());
		}
		else {
			application.sources(MemoryConfiguration.class)
				.initializers((ApplicationContextInitializer<ConfigurableApplicationContext>) this.memory::register);
		}
		all.putAll(this.properties);
		add(all, "shardkeeper.instance-id=" + instance);
		add(all, properties);
		ConfigurableApplicationContext context = application.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(all.entrySet()
				.stream()
				.map((property) -> "--" + property.getKey() + "=" + property.getValue())
				.toArray(String[]::new));
		this.started.add(context);
		return context;
	}

	private FaultyProxy open(String instance, EmbeddedRedis redis) {
		FaultyProxy network = new FaultyProxy(redis.port(), "{" + this.name + "}");
		this.openedNetworks.add(network);
		this.networks.put(instance, network);
		return network;
	}

	/**
	 * Returns all applications that were started, also those that were closed since.
	 * @return the applications in the order of their start
	 */
	public List<ConfigurableApplicationContext> started() {
		return List.copyOf(this.started);
	}

	/**
	 * Returns the network between an instance and Redis. It has no effect on an instance
	 * whose properties name another Redis.
	 * @param instance the instance id
	 * @return the network of the instance that was last started under this id
	 * @throws IllegalArgumentException if there is none, because the group is in memory
	 * or the instance was not started
	 */
	public FaultyProxy network(String instance) {
		FaultyProxy network = this.networks.get(instance);
		if (network == null) {
			throw new IllegalArgumentException("There is no network between '%s' and Redis: ".formatted(instance)
					+ ((this.redis != null) ? "it was not started by this group."
							: "the group is in memory. Use EmbeddedGroup.onRedis(…)."));
		}
		return network;
	}

	/**
	 * Cuts an instance off. To the group it looks like a process that was killed: its
	 * connections are closed, it leaves nothing in order, and its shards move after one
	 * lease. The application itself stays in this JVM until the end of the test. It
	 * consumes nothing once its own lease has ended, before its shards move, and calls of
	 * handlers are interrupted then.
	 * @param instance the instance id
	 * @throws IllegalArgumentException if the group is in memory or the instance was not
	 * started
	 */
	public void kill(String instance) {
		network(instance).disturb(Disturbance.refuse(Disturbance.ALL));
	}

	/**
	 * Closes all instances, the last one first.
	 */
	@Override
	public void close() {
		// An instance that reaches Redis leaves the group instead of waiting for it.
		this.openedNetworks.forEach(FaultyProxy::heal);
		List<ConfigurableApplicationContext> open = new ArrayList<>(this.started);
		Collections.reverse(open);
		open.forEach(ConfigurableApplicationContext::close);
		this.openedNetworks.forEach(FaultyProxy::close);
	}

	@Override
	public void afterEach(ExtensionContext test) {
		close();
	}

	private static void add(Map<String, String> to, String... properties) {
		for (String property : properties) {
			int equals = property.indexOf('=');
			if (equals < 1) {
				throw new IllegalArgumentException("'%s' is no property: write name=value.".formatted(property));
			}
			to.put(property.substring(0, equals), property.substring(equals + 1));
		}
	}

	/** Stores and topics of a group in memory. */
	private static final class SharedMemory {

		private final MemoryCoordinationStore coordination = new MemoryCoordinationStore();

		private final MemoryCheckpointStore checkpoints = new MemoryCheckpointStore();

		private @Nullable MemoryStreamSource source;

		void register(ConfigurableApplicationContext context) {
			context.getBeanFactory().registerSingleton("embeddedGroupMemory", this);
		}

		/** Returns the source of all instances, with the topics of the first one. */
		MemoryStreamSource source(Environment environment) {
			if (this.source == null) {
				Map<String, Integer> counts = new LinkedHashMap<>();
				Binder.get(environment)
					.bind("shardkeeper.topics", Bindable.mapOf(String.class, Topic.class))
					.orElse(Map.of())
					.forEach((topic, settings) -> counts.put(topic, settings.shards()));
				this.source = new MemoryStreamSource(counts);
			}
			return this.source;
		}

	}

	/** Number of shards of a topic. */
	record Topic(@DefaultValue("1") int shards) {

	}

	/** Shared stores and source, instead of those that the auto-configuration creates. */
	@Configuration(proxyBeanMethods = false)
	static class MemoryConfiguration {

		@Bean
		@ConditionalOnMissingBean(CoordinationStore.class)
		MemoryCoordinationStore embeddedGroupCoordinationStore(SharedMemory memory) {
			return memory.coordination;
		}

		@Bean
		@ConditionalOnMissingBean(CheckpointStore.class)
		MemoryCheckpointStore embeddedGroupCheckpointStore(SharedMemory memory) {
			return memory.checkpoints;
		}

		@Bean
		@ConditionalOnMissingBean(ShardSource.class)
		MemoryStreamSource embeddedGroupSource(SharedMemory memory, ConfigurableEnvironment environment) {
			return memory.source(environment);
		}

	}

}
