package io.github.shardkeeper.benchmarks.moves;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.springframework.util.FileSystemUtils;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.Signals;

/**
 * The instances of a group, each a process of its own. Ends them all when it is closed,
 * and with the JVM at the latest. Confined to one thread.
 */
final class Instances implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 60;

	/**
	 * The same for all contenders, and meant for two cores: what the compiler and the
	 * collector of a JVM that is just starting take away from the others is little.
	 */
	private static final List<String> JAVA = List.of(ChildProcess.java(), "-Xmx128m", "-XX:TieredStopAtLevel=1",
			"-XX:+UseSerialGC");

	private final Map<String, Process> running = new LinkedHashMap<>();

	private final Path directory;

	Instances(Path directory) {
		this.directory = directory;
	}

	/**
	 * Starts a process.
	 * @param name its name, which is that of its log
	 * @param options of the JVM, its main class and arguments
	 */
	void start(String name, List<String> options) throws IOException {
		List<String> command = new ArrayList<>(JAVA);
		command.addAll(options);
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(Redirect.appendTo(this.directory.resolve(name + ".log").toFile()))
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		this.running.put(name, process);
	}

	/** The names of those that run, the eldest first. */
	Set<String> names() {
		return this.running.keySet();
	}

	/** {@code SIGTERM}, and waits for the end. */
	void terminate(String name) throws InterruptedException {
		Process process = this.running.get(name);
		process.destroy();
		if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException(name + " does not end: " + keep());
		}
		this.running.remove(name);
	}

	/** {@code SIGKILL}. */
	void kill(String name) throws InterruptedException {
		Process process = this.running.remove(name);
		process.destroyForcibly();
		process.waitFor();
	}

	/** {@code SIGSTOP}, and {@code SIGCONT} after a time. */
	void freeze(String name, long millis) throws IOException, InterruptedException {
		verify();
		Signals.stall(this.running.get(name), millis);
	}

	/** Fails if an instance has ended unexpectedly. */
	void verify() {
		this.running.forEach((name, process) -> {
			if (!process.isAlive()) {
				throw new IllegalStateException("%s has ended with %d, its log is %s.log: %s".formatted(name,
						process.exitValue(), name, keep()));
			}
		});
	}

	/**
	 * Copies all that was written down: where it lies now is deleted with the group, and
	 * before anybody reads of the failure.
	 * @return where it is to be found, in words
	 */
	String keep() {
		try {
			Path kept = Files.createTempDirectory("shardkeeper-benchmark-failed");
			FileSystemUtils.copyRecursively(this.directory, kept);
			return "see " + kept;
		}
		catch (IOException ex) {
			// It must not hide the failure.
			return "its logs are lost: " + ex;
		}
	}

	@Override
	public void close() {
		this.running.values().forEach(Process::destroyForcibly);
		this.running.values().forEach((process) -> process.onExit().join());
		this.running.clear();
	}

}
