package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.testsupport.TestRedis;

/**
 * Instances of {@link TracingInstance}, each a process of its own, in one group. Ends
 * them all when it is closed.
 */
final class Instances implements AutoCloseable {

	private final Map<String, Process> processes = new TreeMap<>();

	private final TestRedis redis;

	private final Path directory;

	private final String group;

	private final int shards;

	Instances(TestRedis redis, Path directory, String group, int shards) {
		this.redis = redis;
		this.directory = directory;
		this.group = group;
		this.shards = shards;
	}

	void start(String name, String... arguments) {
		List<String> command = new ArrayList<>(List.of(
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
				TracingInstance.class.getName(), "--spring.main.banner-mode=off", "--shardkeeper.group=" + this.group,
				"--shardkeeper.instance-id=" + name, "--spring.data.redis.port=" + this.redis.port(),
				"--shardkeeper.topics." + TracingInstance.TOPIC + ".shards=" + this.shards,
				"--trace.file=" + this.directory.resolve(name + ".trace")));
		command.addAll(List.of(arguments));
		try {
			this.processes.put(name,
					new ProcessBuilder(command).redirectErrorStream(true)
						.redirectOutput(this.directory.resolve(name + ".log").toFile())
						.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** {@code SIGTERM}: the instance leaves in order. */
	void terminate(String name) {
		process(name).destroy();
	}

	/** {@code SIGKILL}. */
	void kill(String name) {
		process(name).destroyForcibly();
	}

	/** For example {@code STOP} or {@code CONT}. */
	void signal(String name, String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, Long.toString(process(name).pid())).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	void awaitEnd(String name) {
		process(name).onExit().join();
	}

	private Process process(String name) {
		return this.processes.get(name);
	}

	@Override
	public void close() {
		this.processes.values().forEach(Process::destroyForcibly);
		this.processes.values().forEach((process) -> process.onExit().join());
	}

}
