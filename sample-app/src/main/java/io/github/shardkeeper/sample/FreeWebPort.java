package io.github.shardkeeper.sample;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Gives every instance on a machine a web port of its own, unless {@code server.port} is
 * set: the first free one from 8080 on.
 * <p>
 * The port stays bound until the web server is about to take it, so that instances
 * started at the same moment choose different ones.
 */
final class FreeWebPort implements ApplicationListener<ApplicationEnvironmentPreparedEvent>,
		ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final int FIRST = 8080;

	private static final int LAST = 8099;

	private @Nullable ServerSocket reserved;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		if (!environment.containsProperty("server.port")) {
			this.reserved = reserve(FIRST, LAST);
			environment.getPropertySources()
				.addFirst(new MapPropertySource("freeWebPort", Map.of("server.port", this.reserved.getLocalPort())));
		}
	}

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		if (this.reserved != null) {
			context.getBeanFactory().registerSingleton("webPortRelease", new Release(this.reserved));
		}
	}

	static ServerSocket reserve(int first, int last) {
		for (int port = first; port <= last; port++) {
			try {
				return new ServerSocket(port);
			}
			catch (IOException ex) {
				// It is taken; the next one may be free.
			}
		}
		throw new ShardkeeperConfigurationException(
				"None of the web ports from %d to %d is free.".formatted(first, last),
				"Choose another one, for example --server.port=9000, or 0 for any that is free.");
	}

	/** Frees the port in the last moment before the web server binds it. */
	private static final class Release implements SmartLifecycle {

		private final ServerSocket reserved;

		private Release(ServerSocket reserved) {
			this.reserved = reserved;
		}

		@Override
		public void start() {
			try {
				this.reserved.close();
			}
			catch (IOException ex) {
				throw new IllegalStateException("Port " + this.reserved.getLocalPort() + " could not be freed", ex);
			}
		}

		@Override
		public void stop() {
			// There is nothing to stop.
		}

		@Override
		public boolean isRunning() {
			return this.reserved.isClosed();
		}

		@Override
		public int getPhase() {
			return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 1;
		}

	}

}
