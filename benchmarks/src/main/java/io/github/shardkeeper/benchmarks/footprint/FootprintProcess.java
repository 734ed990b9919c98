package io.github.shardkeeper.benchmarks.footprint;

import java.io.IOException;
import java.lang.management.ManagementFactory;

import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;
import io.github.shardkeeper.benchmarks.Machine;

/**
 * A process that prints its figures when it has started, and on request. Has no state.
 */
final class FootprintProcess {

	private FootprintProcess() {
	}

	/**
	 * Starts an application, and runs until its input is closed.
	 * @param source the application's class
	 * @param ready waits until the application does its work
	 */
	static void run(Class<?> source, Ready ready, String... arguments) throws IOException, InterruptedException {
		SpringApplication application = new SpringApplication(source);
		application.setBannerMode(Banner.Mode.OFF);
		ConfigurableApplicationContext context = application.run(arguments);
		long started = ManagementFactory.getRuntimeMXBean().getUptime();
		ready.await(context);
		serve(started);
	}

	/** Prints figures, and replies requests until the input is closed. */
	static void serve(long started) throws IOException {
		Figures.print("started", started, "ready", ManagementFactory.getRuntimeMXBean().getUptime(), "classes",
				ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount(), "threads", threads());
		Figures.serve((request) -> Figures.print("heap", Machine.heapUsed(), "threads", threads()));
	}

	private static int threads() {
		return ManagementFactory.getThreadMXBean().getThreadCount();
	}

	/** Condition after the start. */
	interface Ready {

		void await(ConfigurableApplicationContext context) throws InterruptedException;

	}

}
