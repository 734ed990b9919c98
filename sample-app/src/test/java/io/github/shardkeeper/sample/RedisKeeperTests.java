package io.github.shardkeeper.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Starts keepers and Redis servers for real. */
@DisabledOnOs(OS.WINDOWS)
class RedisKeeperTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final int port = FreePorts.next();

	@Test
	void redisGoesAwayWithItsLastClientAndLeavesNothing() throws IOException {
		assertThat(RedisKeeper.start(this.port)).isEmpty();
		PlainRedis first = connect();
		Path directory = directory(first);
		PlainRedis last = connect();
		assertThat(directory).isDirectory();
		first.close();
		assertThat(last.ask("PING")).isEqualTo("+PONG");
		last.close();
		awaitEnd(directory);
	}

	@Test
	void keeperOutlivesCtrlC() throws Exception {
		assertThat(RedisKeeper.start(this.port)).isEmpty();
		PlainRedis redis = connect();
		ProcessHandle keeper = keeper();
		for (String signal : List.of("-INT", "-HUP")) {
			assertThat(new ProcessBuilder("kill", signal, Long.toString(keeper.pid())).start().waitFor()).isZero();
		}
		Path directory = directory(redis);
		redis.close();
		awaitEnd(directory);
		await().atMost(PATIENCE).until(() -> !keeper.isAlive());
	}

	@Test
	void keeperThatIsAskedToEndTakesRedisAlong() throws IOException {
		assertThat(RedisKeeper.start(this.port)).isEmpty();
		try (PlainRedis redis = connect()) {
			Path directory = directory(redis);
			keeper().destroy();
			awaitEnd(directory);
		}
	}

	@Test
	void twoAtTheSameMomentShareOneRedis() throws IOException {
		List<CompletableFuture<String>> starts = List.of(startAsync(), startAsync());
		assertThat(starts).allSatisfy((start) -> assertThat(start.join()).isEmpty());
		PlainRedis redis = connect();
		await().atMost(PATIENCE).until(() -> keepers().size() == 1);
		assertThat(redis.ask("PING")).isEqualTo("+PONG");
		Path directory = directory(redis);
		redis.close();
		awaitEnd(directory);
	}

	private CompletableFuture<String> startAsync() {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return RedisKeeper.start(this.port);
			}
			catch (IOException ex) {
				return ex.toString();
			}
		});
	}

	private PlainRedis connect() throws IOException {
		PlainRedis redis = PlainRedis.connect(this.port);
		assertThat(redis).isNotNull();
		return redis;
	}

	private Path directory(PlainRedis redis) throws IOException {
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
		return ProcessHandle.current()
			.descendants()
			.filter((process) -> process.info()
				.arguments()
				.map((arguments) -> List.of(arguments).contains("--redis-keeper")
						&& arguments[arguments.length - 1].equals(Integer.toString(this.port)))
				.orElse(false))
			.toList();
	}

	private void awaitEnd(Path directory) throws IOException {
		await().atMost(PATIENCE).until(() -> Files.notExists(directory));
		assertThat(PlainRedis.connect(this.port)).isNull();
	}

}
