package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.Map;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Gives each instance on a machine a web port of its own: the first free one from 8080
 * on, unless {@code server.port} is set.
 * <p>
 * The port stays bound until the web server binds it, so that instances started at the
 * same moment choose different ones.
 */
final class FreeWebPort implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final int FIRST = 8080;

	private static final int LAST = 8099;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		if (!environment.containsProperty("server.port")) {
			ServerSocket reserved = reserve(FIRST, LAST);
			environment.getPropertySources()
				.addFirst(new MapPropertySource("freeWebPort", Map.of("server.port", reserved.getLocalPort())));
			event.getSpringApplication()
				.addInitializers((context) -> context.getBeanFactory()
					.registerSingleton("webPortRelease", new Release(reserved)));
		}
	}

	static ServerSocket reserve(int first, int last) {
		for (int port = first; port <= last; port++) {
			try {
				return new ServerSocket(port);
			}
			catch (IOException ex) {
				// Taken; the next one may be free.
			}
		}
		throw new ShardkeeperConfigurationException(
				"None of the web ports from %d to %d is free.".formatted(first, last),
				"Choose another one, for example --server.port=9000, or 0 for any that is free.");
	}

	/** Frees the port right before the web server binds it. */
	private record Release(ServerSocket reserved) implements SmartLifecycle {

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
			// The web server has the port by now.
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
