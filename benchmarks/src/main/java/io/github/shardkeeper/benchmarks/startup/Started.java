package io.github.shardkeeper.benchmarks.startup;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.ChildProcess;

/**
 * Starts an application, and tells how far its JVM has come by then. Has no state.
 */
final class Started {

	private Started() {
	}

	/**
	 * Starts it; tells the figures when it is asked.
	 * @param source the application's class
	 * @param ready waits for what the application is there for
	 * @param arguments properties
	 */
	static void run(Class<?> source, Ready ready, String... arguments) throws IOException, InterruptedException {
		SpringApplication application = new SpringApplication(source);
		application.setBannerMode(Banner.Mode.OFF);
		ConfigurableApplicationContext context = application.run(arguments);
		long started = ManagementFactory.getRuntimeMXBean().getUptime();
		ready.await(context);
		long readyAt = ManagementFactory.getRuntimeMXBean().getUptime();
		ChildProcess.Figures.tell("started", started, "ready", readyAt, "classes",
				ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount(), "threads",
				ManagementFactory.getThreadMXBean().getThreadCount());
		ChildProcess.Figures.serve(() -> {
		});
	}

	/** What comes after the start. */
	interface Ready {

		/** Nothing does. */
		Ready AT_ONCE = (context) -> {
		};

		void await(ConfigurableApplicationContext context) throws InterruptedException;

	}

}
