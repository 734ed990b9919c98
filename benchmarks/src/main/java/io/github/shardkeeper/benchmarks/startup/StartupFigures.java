package io.github.shardkeeper.benchmarks.startup;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.ChildProcess;

/**
 * Starts an application and prints the figures of its JVM. Has no state.
 */
final class StartupFigures {

	private StartupFigures() {
	}

	/**
	 * Starts it, prints the figures, and runs until its input is closed.
	 * @param source the application's class
	 * @param ready waits until the application does its work
	 * @param arguments properties
	 */
	static void run(Class<?> source, Ready ready, String... arguments) throws IOException, InterruptedException {
		SpringApplication application = new SpringApplication(source);
		application.setBannerMode(Banner.Mode.OFF);
		ConfigurableApplicationContext context = application.run(arguments);
		long started = ManagementFactory.getRuntimeMXBean().getUptime();
		ready.await(context);
		long readyAt = ManagementFactory.getRuntimeMXBean().getUptime();
		ChildProcess.Figures.print("started", started, "ready", readyAt, "classes",
				ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount(), "threads",
				ManagementFactory.getThreadMXBean().getThreadCount());
		ChildProcess.Figures.serve(() -> {
		});
	}

	/** Condition after the start. */
	interface Ready {

		/** No condition. */
		Ready AT_ONCE = (context) -> {
		};

		void await(ConfigurableApplicationContext context) throws InterruptedException;

	}

}
