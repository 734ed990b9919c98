package io.github.shardkeeper.benchmarks.moves.group;

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

	/** The directory of their logs and traces. */
	private final Path directory;

	private boolean kept;

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
		signal(name, "STOP");
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		finally {
			signal(name, "CONT");
		}
	}

	private void signal(String name, String signal) throws IOException, InterruptedException {
		String pid = Long.toString(this.running.get(name).pid());
		if (new ProcessBuilder("kill", "-" + signal, pid).start().waitFor() != 0) {
			throw new IllegalStateException("kill -%s %s failed".formatted(signal, pid));
		}
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

	/** Has the directory outlive this group; returns where it is, in words. */
	String keep() {
		this.kept = true;
		return "see " + this.directory;
	}

	@Override
	public void close() throws IOException {
		this.running.values().forEach(Process::destroyForcibly);
		this.running.values().forEach((process) -> process.onExit().join());
		this.running.clear();
		if (!this.kept) {
			FileSystemUtils.deleteRecursively(this.directory);
		}
	}

}
