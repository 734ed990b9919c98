package io.github.shardkeeper.redis;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.Tracing;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * The client that the connections come from: one of Shardkeeper's own with the
 * configuration of the application's connection factory. So the application's client may
 * stop first, whatever its phase, and its timers and traces do not see heartbeats and
 * blocking reads. Shares the application's threads if its client resources are a bean of
 * the application. A factory that cannot be copied lends its own client. Thread-safe.
 */
final class OwnClient {

	private static final Logger logger = PrintableLogger.of(OwnClient.class);

	private final LettuceConnectionFactory factory;

	private final List<Consumer<ClientOptions.Builder>> customizers;

	/** {@code null} if a client with it would not be the same. */
	private final @Nullable RedisConfiguration configuration;

	/** Written under the lock, as is all below; {@code null} until it is needed. */
	private volatile @Nullable LettuceConnectionFactory own;

	private @Nullable ClientResources ownResources;

	private boolean closed;

	/**
	 * Describes a client, which is created when it is needed.
	 * @param customizers change the options that it takes over; not those of a lent one
	 */
	OwnClient(LettuceConnectionFactory factory, List<Consumer<ClientOptions.Builder>> customizers) {
		this.factory = factory;
		this.customizers = List.copyOf(customizers);
		this.configuration = configuration(factory);
	}

	/** Returns whether the application's client is used, and must not stop first. */
	boolean isLent() {
		return this.configuration == null;
	}

	/**
	 * Returns the client.
	 * @throws IllegalStateException if it was closed, or is lent by a factory that is not
	 * started
	 */
	AbstractRedisClient get() {
		RedisConfiguration known = this.configuration;
		if (known == null) {
			return this.factory.getRequiredNativeClient();
		}
		LettuceConnectionFactory current = this.own;
		return ((current != null) ? current : create(known)).getRequiredNativeClient();
	}

	/**
	 * Returns the client; {@code null} if there is none yet, or any more. Waits for
	 * nothing: event loops call it, which a client that shuts down waits for.
	 */
	@Nullable AbstractRedisClient find() {
		LettuceConnectionFactory current = (this.configuration != null) ? this.own : this.factory;
		return (current != null) ? current.getNativeClient() : null;
	}

	/** Shuts an own client down; a later call creates another one. */
	void stop() {
		LettuceConnectionFactory current;
		ClientResources resources;
		synchronized (this) {
			current = this.own;
			resources = this.ownResources;
			this.own = null;
			this.ownResources = null;
		}
		if (current != null) {
			current.destroy();
		}
		if (resources != null) {
			// What belongs to the application continues.
			resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
		}
	}

	/** Shuts an own client down; later calls fail. */
	void close() {
		synchronized (this) {
			this.closed = true;
		}
		stop();
	}

	private synchronized LettuceConnectionFactory create(RedisConfiguration known) {
		LettuceConnectionFactory current = this.own;
		if (current != null) {
			return current;
		}
		if (this.closed) {
			throw new IllegalStateException("the application context was closed");
		}
		LettuceClientConfiguration settings = this.factory.getClientConfiguration();
		ClientResources resources = resources(settings.getClientResources().orElse(null));
		this.ownResources = resources;
		LettuceConnectionFactory created = new LettuceConnectionFactory(known,
				new Settings(settings, options(settings), resources));
		created.afterPropertiesSet();
		created.start();
		this.own = created;
		return created;
	}

	private Optional<ClientOptions> options(LettuceClientConfiguration settings) {
		if (this.customizers.isEmpty()) {
			return settings.getClientOptions();
		}
		ClientOptions.Builder options = settings.getClientOptions().orElseGet(ClientOptions::create).mutate();
		this.customizers.forEach((customizer) -> customizer.accept(options));
		return Optional.of(options.build());
	}

	private static ClientResources resources(@Nullable ClientResources applications) {
		if (applications == null) {
			// The application's client shuts its threads down when it stops.
			return ClientResources.builder()
				.commandLatencyRecorder(CommandLatencyRecorder.disabled())
				.tracing(Tracing.disabled())
				.build();
		}
		// Marks them as shared: a copy shuts down what its original had created.
		return applications.mutate()
			.eventLoopGroupProvider(applications.eventLoopGroupProvider())
			.eventExecutorGroup(applications.eventExecutorGroup())
			.timer(applications.timer())
			.commandLatencyRecorder(CommandLatencyRecorder.disabled())
			.tracing(Tracing.disabled())
			.build();
	}

	/**
	 * Returns the addresses and credentials of the application; {@code null} if a client
	 * with these would not be the same. No method of the factory returns them for each
	 * kind of Redis.
	 */
	private static @Nullable RedisConfiguration configuration(LettuceConnectionFactory factory) {
		if (factory.getClass() != LettuceConnectionFactory.class) {
			logger.debug("{} may create a client of its own kind: its client is used", factory.getClass());
			return null;
		}
		Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
		if (field == null || !RedisConfiguration.class.isAssignableFrom(field.getType())) {
			logger.info("This version of Spring Data Redis is not known: timers and traces of Redis commands in this "
					+ "application include those of Shardkeeper");
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		Object configuration = ReflectionUtils.getField(field, factory);
		// It has no single address, which the application's client complains about.
		return (configuration instanceof RedisStaticMasterReplicaConfiguration) ? null
				: (RedisConfiguration) configuration;
	}

	/**
	 * Settings of the application's client with other options and resources. Immutable.
	 */
	private record Settings(LettuceClientConfiguration applications, Optional<ClientOptions> options,
			ClientResources resources) implements LettuceClientConfiguration {

		@Override
		public boolean isUseSsl() {
			return this.applications.isUseSsl();
		}

		@Override
		@Deprecated
		@SuppressWarnings("deprecation")
		public boolean isVerifyPeer() {
			return this.applications.isVerifyPeer();
		}

		@Override
		public SslVerifyMode getVerifyMode() {
			return this.applications.getVerifyMode();
		}

		@Override
		public boolean isStartTls() {
			return this.applications.isStartTls();
		}

		@Override
		public Optional<ClientResources> getClientResources() {
			return Optional.of(this.resources);
		}

		@Override
		public Optional<ClientOptions> getClientOptions() {
			return this.options;
		}

		@Override
		public Optional<String> getClientName() {
			return this.applications.getClientName();
		}

		@Override
		public Optional<ReadFrom> getReadFrom() {
			return this.applications.getReadFrom();
		}

		@Override
		public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
			return this.applications.getRedisCredentialsProviderFactory().or(() -> Optional.of(new KnownCredentials()));
		}

		@Override
		public Duration getCommandTimeout() {
			return this.applications.getCommandTimeout();
		}

		@Override
		public Duration getShutdownTimeout() {
			return this.applications.getShutdownTimeout();
		}

		@Override
		public Duration getShutdownQuietPeriod() {
			// All connections are closed before.
			return Duration.ZERO;
		}

	}

}
