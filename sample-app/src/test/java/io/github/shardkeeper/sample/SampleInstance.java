package io.github.shardkeeper.sample;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Instance of the sample in a process of its own. */
public final class SampleInstance {

	private static final HttpClient HTTP = HttpClient.newHttpClient();

	private final int port = FreePorts.next();

	private final Process process;

	/**
	 * Starts an instance.
	 * @param logs the directory for its output
	 * @param options further command line options
	 */
	public SampleInstance(Path logs, List<String> options) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote",
						SampleApplication.class.getName(), "--server.port=" + this.port));
		command.addAll(options);
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(logs.resolve(this.port + ".log").toFile());
		builder.environment().put("CLASSPATH", classPath());
		try {
			this.process = builder.start();
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

	/** Stops the process with {@code kill}. */
	void terminate() throws InterruptedException {
		this.process.destroy();
		this.process.waitFor();
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

	long countedLines() throws IOException {
		return new JsonMapper().readTree(text("/visits/top?limit=0")).path("lines").asLong();
	}

}
