package io.github.shardkeeper.redis;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

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
 * The client that the connections come from. It is the application's, unless that times
 * or traces its commands: heartbeats and blocking reads would spoil both. Then it is a
 * client with the same configuration and the same threads that does neither. Thread-safe.
 */
final class OwnClient {

	private static final Logger logger = PrintableLogger.of(OwnClient.class);

	private final LettuceConnectionFactory factory;

	/** Written under the lock, as are the next two; {@code null} until it is needed. */
	private volatile @Nullable LettuceConnectionFactory own;

	private @Nullable ClientResources ownResources;

	/** Client of the application that the own one was made for. */
	private volatile @Nullable AbstractRedisClient madeFor;

	OwnClient(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	/**
	 * Returns the client.
	 * @throws IllegalStateException if the application's factory is not started
	 */
	AbstractRedisClient get() {
		AbstractRedisClient applications = this.factory.getRequiredNativeClient();
		return isObserved(applications) ? own(applications) : applications;
	}

	/**
	 * Returns the client; {@code null} if there is none yet, or any more. Waits for
	 * nothing: event loops call it, which a client that shuts down waits for.
	 */
	@Nullable AbstractRedisClient find() {
		AbstractRedisClient applications = this.factory.getNativeClient();
		if (applications == null || !isObserved(applications)) {
			return applications;
		}
		LettuceConnectionFactory current = this.own;
		if (current != null) {
			return current.getNativeClient();
		}
		return (this.madeFor == applications) ? applications : null;
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
			this.madeFor = null;
		}
		if (current != null) {
			current.destroy();
		}
		if (resources != null) {
			// Event loops and timers belong to the application, and continue.
			resources.shutdown(0, 0, TimeUnit.MILLISECONDS);
		}
	}

	private static boolean isObserved(AbstractRedisClient client) {
		ClientResources resources = client.getResources();
		return resources.commandLatencyRecorder().isEnabled() || resources.tracing().isEnabled();
	}

	private synchronized AbstractRedisClient own(AbstractRedisClient applications) {
		if (this.madeFor != applications) {
			stop();
			RedisConfiguration configuration = configuration();
			if (configuration != null) {
				create(configuration, applications.getResources());
			}
			this.madeFor = applications;
		}
		LettuceConnectionFactory current = this.own;
		return (current != null) ? current.getRequiredNativeClient() : applications;
	}

	private void create(RedisConfiguration configuration, ClientResources resources) {
		// Marks them as shared: a copy shuts down what its original had created.
		ClientResources silent = resources.mutate()
			.eventLoopGroupProvider(resources.eventLoopGroupProvider())
			.eventExecutorGroup(resources.eventExecutorGroup())
			.timer(resources.timer())
			.commandLatencyRecorder(CommandLatencyRecorder.disabled())
			.tracing(Tracing.disabled())
			.build();
		this.ownResources = silent;
		LettuceConnectionFactory created = new LettuceConnectionFactory(configuration,
				new Settings(this.factory.getClientConfiguration(), silent));
		created.afterPropertiesSet();
		created.start();
		this.own = created;
	}

	/**
	 * Returns the addresses and credentials of the application; {@code null} if a client
	 * with these would not be the same. No method of the factory returns them for each
	 * kind of Redis.
	 */
	private @Nullable RedisConfiguration configuration() {
		if (this.factory.getClass() != LettuceConnectionFactory.class) {
			logger.debug("{} may create a client of its own kind: its client is used", this.factory.getClass());
			return null;
		}
		Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
		if (field == null || !RedisConfiguration.class.isAssignableFrom(field.getType())) {
			logger.info("This version of Spring Data Redis is not known: timers and traces of Redis commands in this "
					+ "application include those of Shardkeeper");
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		Object configuration = ReflectionUtils.getField(field, this.factory);
		// It has no single address, which the application's client complains about.
		return (configuration instanceof RedisStaticMasterReplicaConfiguration) ? null
				: (RedisConfiguration) configuration;
	}

	/** Settings of the application's client with other resources. Immutable. */
	private record Settings(LettuceClientConfiguration applications,
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
			return this.applications.getClientOptions();
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
			return this.applications.getRedisCredentialsProviderFactory();
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
			return this.applications.getShutdownQuietPeriod();
		}

	}

}
