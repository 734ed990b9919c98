package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.sample.FreePorts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

/** Starts keepers and Redis servers in processes of their own. */
@DisabledOnOs(OS.WINDOWS)
@Tag("proof")
class RedisKeeperTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final int port = FreePorts.next();

	@Test
	void redisEndsWithItsLastClientAndLeavesNothing() throws IOException {
		PlainRedisConnection first = RedisKeeper.start(this.port);
		Path directory = directory(first);
		PlainRedisConnection last = connect();
		assertThat(directory).isDirectory();
		first.close();
		assertThat(last.ask("PING")).isEqualTo("+PONG");
		last.close();
		awaitEnd(directory);
	}

	/**
	 * A terminal sends SIGINT to the process group of the instance on Ctrl-C, and SIGHUP
	 * when it is closed.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "INT", "HUP" })
	@EnabledOnOs(OS.LINUX)
	void redisOutlivesSignalsOfTheTerminalOfItsFirstInstance(String signal) throws Exception {
		// A shell ignores SIGINT for a build in the background, and nohup ignores SIGHUP;
		// a
		// JVM inherits that.
		List<String> command = new ArrayList<>(List.of("env", "--default-signal=" + signal));
		command.addAll(KeeperProcess.IN_OWN_PROCESS_GROUP);
		command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				FirstInstance.class.getName(), Integer.toString(this.port)));
		ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
		builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
		Process instance = builder.start();
		assertThat(instance.inputReader().readLine()).isEqualTo("+PONG");
		PlainRedisConnection redis = connect();
		ProcessHandle keeper = keeper();

		signal("-" + signal, "-" + instance.pid());
		assertThat(instance.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(instance.exitValue()).isNotZero();
		assertThat(redis.ask("PING")).isEqualTo("+PONG");
		assertThat(keeper.isAlive()).isTrue();

		Path directory = directory(redis);
		redis.close();
		awaitEnd(directory);
		await().atMost(PATIENCE).until(() -> !keeper.isAlive());
	}

	@Test
	void keeperThatIsAskedToEndStopsRedis() throws IOException {
		try (PlainRedisConnection redis = RedisKeeper.start(this.port)) {
			Path directory = directory(redis);
			keeper().destroy();
			awaitEnd(directory);
		}
	}

	@Test
	void twoThatStartAtOnceShareOneRedis() throws IOException {
		List<CompletableFuture<PlainRedisConnection>> starts = List.of(startAsync(), startAsync());
		List<PlainRedisConnection> connections = starts.stream().map(CompletableFuture::join).toList();
		PlainRedisConnection redis = connect();
		await().atMost(PATIENCE).until(() -> keepers().size() == 1);
		assertThat(redis.ask("PING")).isEqualTo("+PONG");
		Path directory = directory(redis);
		for (PlainRedisConnection connection : connections) {
			assertThat(directory(connection)).isEqualTo(directory);
			connection.close();
		}
		redis.close();
		awaitEnd(directory);
	}

	@Test
	void failedStartIsExplained() throws IOException {
		try (Socket bound = new Socket()) {
			bound.bind(new InetSocketAddress("127.0.0.1", this.port));
			assertThatIOException().isThrownBy(() -> RedisKeeper.start(this.port))
				.withMessageContaining("Address already in use");
		}
	}

	private CompletableFuture<PlainRedisConnection> startAsync() {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return RedisKeeper.start(this.port);
			}
			catch (IOException ex) {
				throw new CompletionException(ex);
			}
		});
	}

	private PlainRedisConnection connect() throws IOException {
		PlainRedisConnection redis = PlainRedisConnection.open(this.port);
		assertThat(redis).isNotNull();
		return redis;
	}

	private Path directory(PlainRedisConnection redis) throws IOException {
		return redis.ask("INFO server")
			.lines()
			.filter((line) -> line.startsWith("executable:"))
			.map((line) -> Path.of(line.substring("executable:".length())).getParent())
			.findFirst()
			.orElseThrow();
	}

	private ProcessHandle keeper() {
		assertThat(keepers()).hasSize(1);
		return keepers().get(0);
	}

	private List<ProcessHandle> keepers() {
		List<String> end = List.of(RedisKeeper.class.getName(), Integer.toString(this.port));
		return ProcessHandle.allProcesses()
			.filter((process) -> process.info()
				.arguments()
				.map(Arrays::asList)
				.map((words) -> words.size() >= 2 && words.subList(words.size() - 2, words.size()).equals(end))
				.orElse(false))
			.toList();
	}

	private static void signal(String signal, String process) throws Exception {
		assertThat(new ProcessBuilder("kill", signal, "--", process).inheritIO().start().waitFor()).isZero();
	}

	private void awaitEnd(Path directory) throws IOException {
		await().atMost(PATIENCE).until(() -> Files.notExists(directory));
		assertThat(FreePorts.isFree(this.port)).isTrue();
	}

	/** Stays connected until it is ended. */
	private static final class FirstInstance {

		private FirstInstance() {
		}

		public static void main(String[] args) throws IOException {
			try (PlainRedisConnection redis = RedisKeeper.start(Integer.parseInt(args[0]))) {
				System.out.println(redis.ask("PING"));
				System.in.read();
			}
		}

	}

}
