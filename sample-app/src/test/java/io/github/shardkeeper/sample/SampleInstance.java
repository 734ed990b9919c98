package io.github.shardkeeper.sample;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.SpringApplicationAotProcessor;

import io.github.shardkeeper.testsupport.AheadOfTime;

import static org.assertj.core.api.Assertions.assertThat;

/** Instance of the sample in a process of its own. */
public final class SampleInstance {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private final int port = FreePorts.next();

	private final Path log;

	private final Process process;

	/**
	 * Starts an instance.
	 * @param logs the directory for its output
	 * @param options further command line options
	 */
	public SampleInstance(Path logs, List<String> options) {
		this(logs, List.of(), classPath(), options);
	}

	private SampleInstance(Path logs, List<String> jvmOptions, String classPath, List<String> options) {
		this.log = logs.resolve(this.port + ".log");
		List<String> command = new ArrayList<>(jvmOptions);
		command.addAll(List.of(SampleApplication.class.getName(), "--server.port=" + this.port));
		command.addAll(options);
		this.process = java(classPath, command, this.log);
	}

	/**
	 * Processes the sample ahead of time, and starts an instance that takes its beans
	 * from the generated code.
	 * @param directory for what is generated, and for the output of both processes
	 * @param options further command line options, at build time and at run time
	 */
	static SampleInstance processedAheadOfTime(Path directory, List<String> options) throws InterruptedException {
		Path sources = directory.resolve("sources");
		Path classes = directory.resolve("classes");
		List<String> command = new ArrayList<>(List.of(SpringApplicationAotProcessor.class.getName(),
				SampleApplication.class.getName(), sources.toString(), directory.resolve("resources").toString(),
				classes.toString(), "group", "artifact", "--server.port=0"));
		command.addAll(options);
		Path log = directory.resolve("processing.log");
		assertThat(java(classPath(), command, log).waitFor()).as(() -> "processing, see " + log).isZero();
		AheadOfTime.compile(sources, classes, classPath());
		return new SampleInstance(directory, List.of("-Dspring.aot.enabled=true"),
				classes + File.pathSeparator + classPath(), options);
	}

	private static Process java(String classPath, List<String> arguments, Path log) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
		command.addAll(arguments);
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
		builder.environment().put("CLASSPATH", classPath);
		try {
			return builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the class path without the tests, whose configurations the sample would
	 * find, and without Spring Security, which only they use.
	 */
	private static String classPath() {
		String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
		return Arrays.stream(all.split(File.pathSeparator))
			.filter((entry) -> !entry.contains("test-classes") && !entry.contains("-security-"))
			.collect(Collectors.joining(File.pathSeparator));
	}

	/** Returns the address of a path of the instance. */
	public String address(String path) {
		return "http://localhost:" + this.port + path;
	}

	/** Freezes the process: it neither runs nor ends. */
	public void freeze() throws IOException, InterruptedException {
		signal("STOP");
	}

	/** Lets a frozen process go on. */
	public void thaw() throws IOException, InterruptedException {
		signal("CONT");
	}

	private void signal(String name) throws IOException, InterruptedException {
		int status = new ProcessBuilder("kill", "-" + name, String.valueOf(this.process.pid())).start().waitFor();
		if (status != 0) {
			throw new IllegalStateException("kill -" + name + " ended with " + status);
		}
	}

	boolean isAlive() {
		return this.process.isAlive();
	}

	/** Kills the process with {@code kill -9}. */
	public void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	/** Stops the process with {@code kill}, and returns its exit status. */
	int terminate() throws InterruptedException {
		this.process.destroy();
		return this.process.waitFor();
	}

	/** Returns what the process has printed. */
	List<String> output() throws IOException {
		return Files.readAllLines(this.log);
	}

	String text(String path) throws IOException {
		HttpRequest request = HttpRequest.newBuilder(URI.create(address(path))).timeout(Duration.ofSeconds(30)).build();
		try {
			return HTTP.send(request, BodyHandlers.ofString()).body();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Returns the instance's report on its group. */
	public JsonNode group() throws IOException {
		return new JsonMapper().readTree(text("/actuator/shards?limit=1000")).path("groups").path(0);
	}

	/**
	 * Returns whether this instance owns the topic's first shard, and therefore feeds.
	 */
	boolean feeds() throws IOException {
		JsonNode group = group();
		for (JsonNode shard : group.path("shards")) {
			if (shard.path("id").asString().equals("0")) {
				return shard.path("owner").isString() && shard.path("owner").equals(group.path("self"));
			}
		}
		return false;
	}

	/** Returns the number of visits by client. */
	Map<String, Long> counts() throws IOException {
		return text("/visits").lines()
			.map((line) -> line.split(" ", 2))
			.collect(Collectors.toMap((words) -> words[1], (words) -> Long.parseLong(words[0]), Long::sum,
					TreeMap::new));
	}

	long countedLines() throws IOException {
		return new JsonMapper().readTree(text("/visits/top?limit=0")).path("lines").asLong();
	}

}
