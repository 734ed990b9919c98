package io.github.shardkeeper.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.lettuce.core.MigrateArgs;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.awaitility.Awaitility;

/**
 * Redis Cluster for tests, its slots spread evenly over its masters. With replicas it
 * fails over about four seconds after a master was killed. Set
 * {@code spring.data.redis.cluster.nodes} to {@link #addresses()}. Confined to one thread
 * at a time.
 */
public final class EmbeddedRedisCluster implements AutoCloseable {

	private static final int SLOTS = 16384;

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final List<EmbeddedRedis> nodes = new ArrayList<>();

	private EmbeddedRedisCluster() {
	}

	/**
	 * Starts a cluster without replicas and waits until it is up.
	 * @param masters the number of masters
	 * @return the running cluster
	 */
	public static EmbeddedRedisCluster start(int masters) {
		return start(masters, 0);
	}

	/**
	 * Starts a cluster in which each master has one replica, and waits until it is up.
	 * @param masters the number of masters, half the number of nodes
	 * @return the running cluster
	 */
	public static EmbeddedRedisCluster startWithReplicas(int masters) {
		return start(masters, masters);
	}

	private static EmbeddedRedisCluster start(int masters, int replicas) {
		EmbeddedRedisCluster cluster = new EmbeddedRedisCluster();
		try {
			for (int i = 0; i < masters + replicas; i++) {
				cluster.nodes.add(startNode());
			}
			cluster.join(masters);
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private static EmbeddedRedis startNode() {
		return EmbeddedRedis.startReplicating("--cluster-enabled", "yes", "--cluster-config-file",
				configuration().toString(), "--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0");
	}

	private static Path configuration() {
		try {
			Path directory = Files.createTempDirectory("shardkeeper-test-cluster");
			Path file = directory.resolve(UUID.randomUUID() + ".conf");
			// The JVM deletes in reverse order.
			directory.toFile().deleteOnExit();
			file.toFile().deleteOnExit();
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void join(int masters) {
		int share = (SLOTS + masters - 1) / masters;
		for (int i = 0; i < this.nodes.size(); i++) {
			EmbeddedRedis node = this.nodes.get(i);
			if (i < masters) {
				int[] slots = IntStream.range(i * share, Math.min(SLOTS, (i + 1) * share)).toArray();
				node.call((commands) -> commands.clusterAddSlots(slots));
			}
			node.call((commands) -> commands.clusterMeet("127.0.0.1", this.nodes.get(0).port()));
		}
		for (EmbeddedRedis replica : this.nodes.subList(masters, this.nodes.size())) {
			EmbeddedRedis master = this.nodes.get(this.nodes.indexOf(replica) - masters);
			awaitSeen(replica, (info) -> info.contains("cluster_known_nodes:" + this.nodes.size()));
			String id = master.call((commands) -> commands.clusterMyId());
			replica.call((commands) -> commands.clusterReplicate(id));
		}
		awaitWhole();
	}

	/**
	 * Waits until every node sees every slot served, and every replica is in sync.
	 */
	private void awaitWhole() {
		for (EmbeddedRedis node : this.nodes) {
			awaitSeen(node, (info) -> info.contains("cluster_state:ok")
					&& info.contains("cluster_known_nodes:" + this.nodes.size()));
			Awaitility.await()
				.atMost(TIMEOUT)
				.until(() -> node.call((commands) -> commands.info("replication")),
						(info) -> info.contains("role:master") || info.contains("master_link_status:up"));
		}
	}

	private static void awaitSeen(EmbeddedRedis node, Predicate<String> seen) {
		Awaitility.await().atMost(TIMEOUT).until(() -> node.call((commands) -> commands.clusterInfo()), seen);
	}

	/**
	 * Returns the node that serves the slot of a key.
	 * @param key the key
	 * @return the master, empty while there is none
	 */
	public Optional<EmbeddedRedis> masterOf(String key) {
		int slot = SlotHash.getSlot(key);
		return this.nodes.stream()
			.filter(EmbeddedRedis::isRunning)
			.filter((node) -> self(node).hasSlot(slot))
			.findFirst();
	}

	/**
	 * Returns the replica of the node that serves the slot of a key.
	 * @param key the key
	 * @return the replica
	 */
	public EmbeddedRedis replicaOf(String key) {
		String master = self(masterOf(key).orElseThrow()).getNodeId();
		return this.nodes.stream()
			.filter((node) -> node.isRunning() && master.equals(self(node).getSlaveOf()))
			.findFirst()
			.orElseThrow();
	}

	private static RedisClusterNode self(EmbeddedRedis node) {
		String seen = node.call((commands) -> commands.clusterNodes());
		return ClusterPartitionParser.parse(seen)
			.stream()
			.filter((other) -> other.is(RedisClusterNode.NodeFlag.MYSELF))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Kills the node that serves the slot of a key, once its replica has every write that
	 * it has acknowledged.
	 * @param key the key
	 * @return the killed node
	 */
	public EmbeddedRedis killMasterOf(String key) {
		EmbeddedRedis master = masterOf(key).orElseThrow();
		master.killInSync();
		return master;
	}

	/**
	 * Fails over in order: the replica of the node that serves the slot of a key becomes
	 * its master, and the other way round. Waits until all nodes are in sync.
	 * @param key the key
	 */
	public void switchMasterOf(String key) {
		EmbeddedRedis replica = replicaOf(key);
		replica.call((commands) -> commands.clusterFailover(false));
		Awaitility.await().atMost(TIMEOUT).until(() -> masterOf(key), Optional.of(replica)::equals);
		awaitWhole();
	}

	/** Removes all data. */
	public void empty() {
		this.nodes.stream()
			.filter((node) -> !self(node).getSlots().isEmpty())
			.forEach((node) -> node.call((commands) -> commands.flushall()));
	}

	/**
	 * Returns the nodes that serve slots, except the one that serves the slot of a key.
	 * @param key the key
	 * @return the other masters in the order of their start
	 */
	public List<EmbeddedRedis> mastersWithout(String key) {
		int slot = SlotHash.getSlot(key);
		return this.nodes.stream()
			.filter((node) -> !self(node).getSlots().isEmpty() && !self(node).hasSlot(slot))
			.toList();
	}

	/**
	 * Adds a node without slots and waits until all nodes know it.
	 * @return the node
	 */
	public EmbeddedRedis add() {
		EmbeddedRedis node = startNode();
		this.nodes.add(node);
		node.call((commands) -> commands.clusterMeet("127.0.0.1", this.nodes.get(0).port()));
		awaitWhole();
		return node;
	}

	/**
	 * Begins to move the slot of a key to another node, as {@code redis-cli} does. Its
	 * keys stay where they are until they are moved one by one.
	 * @param key the key
	 * @param target the node that serves the slot after the migration
	 * @return the migration
	 */
	public SlotMigration beginMigration(String key, EmbeddedRedis target) {
		return new SlotMigration(SlotHash.getSlot(key), masterOf(key).orElseThrow(), target);
	}

	/** Restarts killed nodes, waits until they are in sync, and removes all data. */
	public void restore() {
		this.nodes.stream().filter((node) -> !node.isRunning()).forEach((node) -> {
			// Its own configuration still says master until it has seen the others.
			node.restart();
			awaitReplica(node);
		});
		awaitWhole();
		this.nodes.stream()
			.filter((node) -> !self(node).getSlots().isEmpty())
			.forEach((master) -> master.emptyWithReplicas(1));
	}

	private static void awaitReplica(EmbeddedRedis node) {
		Awaitility.await()
			.atMost(TIMEOUT)
			.until(() -> node.call((commands) -> commands.info("replication")).contains("role:slave"));
	}

	/**
	 * Returns the value for {@code spring.data.redis.cluster.nodes}.
	 * @return the addresses of all nodes
	 */
	public String addresses() {
		return this.nodes.stream().map((node) -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
	}

	/** Kills all nodes. */
	@Override
	public void close() {
		this.nodes.forEach(EmbeddedRedis::close);
	}

	/**
	 * Migration of a slot from one node to another. Confined to one thread.
	 */
	public final class SlotMigration {

		private static final long TIMEOUT_MILLIS = 5000;

		private final int slot;

		private final EmbeddedRedis source;

		private final EmbeddedRedis target;

		private SlotMigration(int slot, EmbeddedRedis source, EmbeddedRedis target) {
			this.slot = slot;
			this.source = source;
			this.target = target;
			target.call((commands) -> commands.clusterSetSlotImporting(slot, id(source)));
			source.call((commands) -> commands.clusterSetSlotMigrating(slot, id(target)));
		}

		private static String id(EmbeddedRedis node) {
			return node.call((commands) -> commands.clusterMyId());
		}

		/**
		 * Moves some of the keys that the source still has.
		 * @param most the maximum number of keys
		 * @return the number of keys that were moved
		 */
		public int move(int most) {
			List<String> keys = this.source.call((commands) -> commands.clusterGetKeysInSlot(this.slot, most));
			if (!keys.isEmpty()) {
				this.source.call((commands) -> commands.migrate("127.0.0.1", this.target.port(), 0, TIMEOUT_MILLIS,
						MigrateArgs.Builder.keys(keys)));
			}
			return keys.size();
		}

		/** Assigns the slot to the target and waits until every node knows it. */
		public void finish() {
			String owner = id(this.target);
			this.target.call((commands) -> commands.clusterSetSlotNode(this.slot, owner));
			this.source.call((commands) -> commands.clusterSetSlotNode(this.slot, owner));
			for (EmbeddedRedis node : EmbeddedRedisCluster.this.nodes) {
				Awaitility.await().atMost(TIMEOUT).until(() -> {
					String seen = node.call((commands) -> commands.clusterNodes());
					return ClusterPartitionParser.parse(seen).getPartitionByNodeId(owner).hasSlot(this.slot);
				});
			}
		}

	}

}
