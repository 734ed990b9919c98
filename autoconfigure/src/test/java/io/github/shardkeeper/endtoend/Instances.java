package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/**
 * Instances of {@link TracingInstance}, each a process of its own, in one group. Ends
 * them all when it is closed, and with the JVM at the latest. Thread-safe, but for two
 * threads that care for the same instance.
 */
final class Instances implements AutoCloseable {

	/** Twice as long as an instance may take for it, and more. */
	private static final Duration LONGEST_END = Duration.ofSeconds(90);

	private final Map<String, Process> processes = new ConcurrentSkipListMap<>();

	private final Thread killer = new Thread(this::killAll, "instances-killer");

	private final Class<?> application;

	private final ToIntFunction<String> redisPort;

	private final Path directory;

	private final String group;

	private final int shards;

	/** Guarded by this. */
	private boolean closed;

	/**
	 * Creates the place for a group's instances.
	 * @param redisPort where the instance of a name finds Redis
	 * @param directory for their traces and logs
	 */
	Instances(ToIntFunction<String> redisPort, Path directory, String group, int shards) {
		this(TracingInstance.class, redisPort, directory, group, shards);
	}

	/** The same, for instances of another application. */
	Instances(Class<?> application, ToIntFunction<String> redisPort, Path directory, String group, int shards) {
		this.application = application;
		this.redisPort = redisPort;
		this.directory = directory;
		this.group = group;
		this.shards = shards;
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	/**
	 * Returns how to start an application on the class path of the tests. Most of what
	 * such a process does is to start: it compiles little, and does not verify classes,
	 * which takes a tenth of that time.
	 */
	static List<String> java(Class<?> application) {
		return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions",
				"-XX:-BytecodeVerificationRemote", "-cp", System.getProperty("java.class.path"), application.getName());
	}

	/** Starts an instance that is new, or has ended: it writes on in its files then. */
	void start(String name, String... arguments) {
		startUnder(name, name, arguments);
	}

	/**
	 * Starts an instance whose id is not its name here: that of another one, for example.
	 */
	synchronized void startUnder(String id, String name, String... arguments) {
		List<String> command = new ArrayList<>(java(this.application));
		command.addAll(List.of("--spring.main.banner-mode=off", "--shardkeeper.group=" + this.group,
				"--shardkeeper.instance-id=" + id, "--shardkeeper.consumer.commit.interval=200ms",
				"--spring.data.redis.port=" + this.redisPort.applyAsInt(name),
				"--shardkeeper.topics." + TracingInstance.TOPIC + ".shards=" + this.shards,
				"--trace.file=" + this.directory.resolve(name + ".trace")));
		command.addAll(List.of(arguments));
		if (this.closed) {
			throw new IllegalStateException("Closed: nobody would end " + name);
		}
		try {
			this.processes.put(name,
					new ProcessBuilder(command).redirectErrorStream(true)
						.redirectOutput(Redirect.appendTo(this.directory.resolve(name + ".log").toFile()))
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

	/** Waits for an end that is under way; fails if it does not come. */
	void awaitEnd(String name) {
		process(name).onExit().orTimeout(LONGEST_END.toSeconds(), TimeUnit.SECONDS).join();
	}

	/** Waits for a process that is ending and returns its exit code. */
	int awaitExitCode(String name) {
		awaitEnd(name);
		return process(name).exitValue();
	}

	private Process process(String name) {
		return this.processes.get(name);
	}

	private synchronized void killAll() {
		this.closed = true;
		this.processes.values().forEach(Process::destroyForcibly);
		this.processes.values().forEach((process) -> process.onExit().join());
	}

	@Override
	public void close() {
		killAll();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
