package io.github.shardkeeper.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import org.awaitility.Awaitility;

/**
 * Redis master with replicas and three Sentinels for tests. Two Sentinels must agree;
 * they fail over about four seconds after the master was killed. Set
 * {@code spring.data.redis.sentinel.nodes} to {@link #addresses()}. Confined to one
 * thread at a time.
 */
public final class EmbeddedRedisSentinel implements AutoCloseable {

	/** Value for {@code spring.data.redis.sentinel.master}. */
	public static final String MASTER_NAME = "shardkeeper-test";

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final int SENTINELS = 3;

	private final List<EmbeddedRedis> nodes = new ArrayList<>();

	private final List<EmbeddedRedis> sentinels = new ArrayList<>();

	private EmbeddedRedisSentinel() {
	}

	/**
	 * Starts all processes and waits until the Sentinels know each other and the
	 * replicas.
	 * @param replicas the number of replicas
	 * @return the running servers
	 */
	public static EmbeddedRedisSentinel start(int replicas) {
		EmbeddedRedisSentinel started = new EmbeddedRedisSentinel();
		try {
			started.nodes.add(EmbeddedRedis.startReplicating());
			for (int i = 0; i < replicas; i++) {
				started.nodes.add(EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
						String.valueOf(started.nodes.get(0).port())));
			}
			started.nodes.get(0).emptyWithReplicas(replicas);
			for (int i = 0; i < SENTINELS; i++) {
				started.sentinels.add(EmbeddedRedis.startSentinel(started.configuration()));
			}
			started.awaitSentinels();
			return started;
		}
		catch (RuntimeException ex) {
			started.close();
			throw ex;
		}
	}

	private void awaitSentinels() {
		for (EmbeddedRedis sentinel : this.sentinels) {
			Awaitility.await()
				.atMost(TIMEOUT)
				.until(() -> ask(sentinel, (commands) -> commands.master(MASTER_NAME)),
						(seen) -> String.valueOf(SENTINELS - 1).equals(seen.get("num-other-sentinels"))
								&& String.valueOf(this.nodes.size() - 1).equals(seen.get("num-slaves")));
		}
	}

	private Path configuration() {
		try {
			Path file = Files.createTempFile("shardkeeper-test-sentinel", ".conf");
			file.toFile().deleteOnExit();
			Files.writeString(file, """
					sentinel monitor %1$s 127.0.0.1 %2$d 2
					sentinel down-after-milliseconds %1$s 3000
					sentinel failover-timeout %1$s 10000
					""".formatted(MASTER_NAME, this.nodes.get(0).port()));
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static <T> T ask(EmbeddedRedis sentinel, Function<RedisSentinelCommands<String, String>, T> question) {
		try (StatefulRedisSentinelConnection<String, String> connection = EmbeddedRedis.client()
			.connectSentinel(RedisURI.create("127.0.0.1", sentinel.port()))) {
			return question.apply(connection.sync());
		}
	}

	/**
	 * Returns the master that the first running Sentinel names to clients. During a
	 * failover that is the promoted replica as soon as it is a master; the Sentinel's
	 * description of the master ({@code SENTINEL MASTER}) names the old one for longer.
	 * @return the master
	 */
	public EmbeddedRedis master() {
		EmbeddedRedis sentinel = this.sentinels.stream().filter(EmbeddedRedis::isRunning).findFirst().orElseThrow();
		int port = ask(sentinel, (commands) -> (InetSocketAddress) commands.getMasterAddrByName(MASTER_NAME)).getPort();
		return this.nodes.stream().filter((node) -> node.port() == port).findFirst().orElseThrow();
	}

	/**
	 * Returns the nodes other than the master.
	 * @return the replicas
	 */
	public List<EmbeddedRedis> replicas() {
		EmbeddedRedis master = master();
		return this.nodes.stream().filter((node) -> node != master).toList();
	}

	/**
	 * Returns the value for {@code spring.data.redis.sentinel.nodes}.
	 * @return the addresses of the Sentinels
	 */
	public String addresses() {
		return this.sentinels.stream().map((node) -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
	}

	/**
	 * Returns the Sentinels.
	 * @return the Sentinels in the order of their addresses
	 */
	public List<EmbeddedRedis> sentinels() {
		return List.copyOf(this.sentinels);
	}

	/** Kills all processes. */
	@Override
	public void close() {
		this.sentinels.forEach(EmbeddedRedis::close);
		this.nodes.forEach(EmbeddedRedis::close);
	}

}
