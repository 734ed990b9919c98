package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Starts an application that has a {@link TraceWriter}. If it is asked for, its process
 * takes part in moves of another group before: one of two that it makes up by itself.
 * What it has loaded and compiled for that shows what a process that has just started
 * pays for. Has no state.
 */
final class InstanceProcess {

	/** Argument of a process that is to be warm when it joins. */
	static final String WARM = "--benchmark.warm=true";

	private static final String INSTANCE = "--shardkeeper.instance-id=";

	private static final String GROUP = "--shardkeeper.group=";

	private static final String SHARDS = "--" + ShardkeeperInstance.SHARDS + "=";

	private static final String TRACE = "--trace.file=";

	private static final int MOVES = 4;

	private static final long PATIENCE_NANOS = 60_000_000_000L;

	private InstanceProcess() {
	}

	static void run(Class<?> application, WebApplicationType web, String[] arguments)
			throws IOException, InterruptedException {
		if (List.of(arguments).contains(WARM)) {
			warmUp(application, web, arguments);
		}
		start(application, web, arguments).getBean(TraceWriter.class).ready();
	}

	private static void warmUp(Class<?> application, WebApplicationType web, String[] arguments)
			throws IOException, InterruptedException {
		ConfigurableApplicationContext stays = start(application, web, another(arguments, "stays"));
		await(arguments, "stays");
		for (int i = 0; i < MOVES; i++) {
			String name = "goes-" + i;
			ConfigurableApplicationContext goes = start(application, web, another(arguments, name));
			await(arguments, name);
			goes.close();
		}
		stays.close();
	}

	private static ConfigurableApplicationContext start(Class<?> application, WebApplicationType web,
			String[] arguments) {
		return new SpringApplicationBuilder(application).web(web).bannerMode(Banner.Mode.OFF).run(arguments);
	}

	/** The arguments of an instance of the other group. */
	private static String[] another(String[] arguments, String instance) {
		List<String> changed = new ArrayList<>(List.of(arguments));
		changed.removeIf((argument) -> Stream.of(INSTANCE, GROUP, TRACE).anyMatch(argument::startsWith));
		changed.add(GROUP + "before-" + value(arguments, INSTANCE));
		changed.add(INSTANCE + instance);
		changed.add(TRACE + trace(arguments, instance));
		changed.add("--shardkeeper.topics." + ShardkeeperInstance.TOPIC + ".start=latest");
		return changed.toArray(String[]::new);
	}

	private static Path trace(String[] arguments, String instance) {
		return Path.of(value(arguments, TRACE) + "." + instance);
	}

	private static String value(String[] arguments, String option) {
		return Stream.of(arguments)
			.filter((argument) -> argument.startsWith(option))
			.map((argument) -> argument.substring(option.length()))
			.findFirst()
			.orElseThrow();
	}

	/** Waits until it consumes half of the shards at least. */
	private static void await(String[] arguments, String instance) throws IOException, InterruptedException {
		int half = Integer.parseInt(value(arguments, SHARDS)) / 2;
		long deadline = System.nanoTime() + PATIENCE_NANOS;
		while (consumed(trace(arguments, instance)) < half) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("Not even " + half + " shards were consumed by " + instance);
			}
			TimeUnit.MILLISECONDS.sleep(20);
		}
	}

	private static long consumed(Path trace) throws IOException {
		try (Stream<String> lines = Files.lines(trace)) {
			return lines.map((line) -> line.substring(0, line.indexOf(' '))).distinct().count();
		}
	}

}
