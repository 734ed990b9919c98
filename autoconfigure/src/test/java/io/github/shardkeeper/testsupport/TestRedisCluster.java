package io.github.shardkeeper.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.awaitility.Awaitility;

/**
 * A real Redis Cluster of masters without replicas, its slots spread evenly.
 */
public final class TestRedisCluster implements AutoCloseable {

	private static final int SLOTS = 16384;

	private final List<TestRedis> nodes = new ArrayList<>();

	private TestRedisCluster() {
	}

	/**
	 * Starts a cluster and waits until it is up.
	 * @param masters the number of nodes
	 * @return the running cluster
	 */
	public static TestRedisCluster start(int masters) {
		TestRedisCluster cluster = new TestRedisCluster();
		try {
			for (int i = 0; i < masters; i++) {
				cluster.nodes.add(TestRedis.start("--cluster-enabled", "yes", "--cluster-config-file",
						cluster.configuration().toString()));
			}
			cluster.join();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private Path configuration() {
		try {
			Path directory = Files.createTempDirectory("shardkeeper-test-cluster");
			Path file = directory.resolve(UUID.randomUUID() + ".conf");
			// What is registered last is deleted first.
			directory.toFile().deleteOnExit();
			file.toFile().deleteOnExit();
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void join() {
		int share = (SLOTS + this.nodes.size() - 1) / this.nodes.size();
		for (int i = 0; i < this.nodes.size(); i++) {
			int[] slots = IntStream.range(i * share, Math.min(SLOTS, (i + 1) * share)).toArray();
			try (RedisClient client = client(this.nodes.get(i));
					StatefulRedisConnection<String, String> connection = client.connect()) {
				connection.sync().clusterAddSlots(slots);
				connection.sync().clusterMeet("127.0.0.1", this.nodes.get(0).port());
			}
		}
		for (TestRedis node : this.nodes) {
			try (RedisClient client = client(node);
					StatefulRedisConnection<String, String> connection = client.connect()) {
				Awaitility.await()
					.atMost(Duration.ofSeconds(30))
					.until(() -> connection.sync().clusterInfo().contains("cluster_state:ok")
							&& connection.sync().clusterInfo().contains("cluster_known_nodes:" + this.nodes.size()));
			}
		}
	}

	private static RedisClient client(TestRedis node) {
		return RedisClient.create(RedisURI.create("127.0.0.1", node.port()));
	}

	/** For {@code spring.data.redis.cluster.nodes}. */
	public String addresses() {
		return this.nodes.stream().map((node) -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
	}

	@Override
	public void close() {
		this.nodes.forEach(TestRedis::close);
	}

}
