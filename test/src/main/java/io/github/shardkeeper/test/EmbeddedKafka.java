package io.github.shardkeeper.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

import org.springframework.util.ClassUtils;
import org.springframework.util.FileSystemUtils;

/**
 * Kafka for tests: one or several brokers, each a process of its own on a free port of
 * this machine. The brokers are numbered from 1.
 *
 * <pre>{@code
 * try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
 * 	kafka.createTopic("visits", 8);
 * 	// --spring.kafka.bootstrap-servers=<kafka.bootstrapServers()>
 * }
 * }</pre>
 *
 * A single broker is its own controller. Several brokers have a controller in a further
 * process, so that each of them may be killed, and all of them at the same time.
 * <p>
 * A broker keeps its port and its data when it is stopped or killed; both are gone after
 * {@link #close()}. All processes end, and all files are deleted, with this JVM at the
 * latest, even if it is killed. Settings are made for short tests: topics are not created
 * automatically, internal topics have one partition, groups do not wait for further
 * members, records of any age stay unless their topic limits it, and a broker of several
 * that is silent is given up after 3 s.
 * <p>
 * Needs the dependency {@value #DEPENDENCY}, which no other artifact brings. Several
 * threads may create topics and clients; brokers are confined to one thread at a time.
 */
public final class EmbeddedKafka implements AutoCloseable {

	private static final String DEPENDENCY = "org.apache.kafka:kafka_2.13";

	private static final int ATTEMPTS = 5;

	private static final int TIMEOUT_SECONDS = 60;

	/**
	 * Below those that systems choose for outgoing connections while a broker is down.
	 */
	private static final int LOWEST_PORT = 20_000;

	private static final int HIGHEST_PORT = 32_000;

	/** The mechanism of Kafka's own listeners, where users are asked for. */
	private static final String LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required ";

	private final Map<String, String> users;

	private final Thread killer = new Thread(this::killAll, "test-kafka-killer");

	private final Path directory;

	private final List<KafkaNode> brokers = new ArrayList<>();

	private final List<Integer> ports = new ArrayList<>();

	/** The controller of several brokers, empty for a single one. */
	private final List<KafkaNode> controllers = new ArrayList<>();

	private EmbeddedKafka(Builder builder) {
		this.users = Map.copyOf(builder.users);
		try {
			this.directory = Files.createTempDirectory("shardkeeper-test-kafka");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(this.killer);
		String clusterId = Uuid.randomUuid().toString();
		int controllerPort = freePort();
		boolean single = builder.brokers == 1;
		if (!single) {
			Map<String, String> settings = new LinkedHashMap<>(builder.settings(0, "controller", controllerPort));
			settings.put("listeners", "CONTROLLER://127.0.0.1:" + controllerPort);
			this.controllers.add(builder.node("controller", this.directory, settings, clusterId));
		}
		for (int number = 1; number <= builder.brokers; number++) {
			int port = freePort();
			this.ports.add(port);
			Map<String, String> settings = new LinkedHashMap<>(
					builder.settings(number, single ? "broker,controller" : "broker", controllerPort));
			String listeners = "CLIENT://127.0.0.1:%d,INTERNAL://127.0.0.1:%d".formatted(port, freePort());
			settings.put("advertised.listeners", listeners);
			settings.put("listeners", single ? listeners + ",CONTROLLER://127.0.0.1:" + controllerPort : listeners);
			settings.put("inter.broker.listener.name", "INTERNAL");
			this.brokers.add(builder.node("broker-" + number, this.directory, settings, clusterId));
		}
	}

	/**
	 * Starts a single broker and waits until it accepts connections.
	 * @return the running Kafka
	 * @throws IllegalStateException if the broker's classes are not on the class path
	 * @throws RuntimeException if it does not start, with the end of its log in the
	 * message
	 */
	public static EmbeddedKafka start() {
		return builder().start();
	}

	/**
	 * Starts several brokers and waits until they accept connections.
	 * @param brokers the number of brokers
	 * @return the running Kafka
	 */
	public static EmbeddedKafka startCluster(int brokers) {
		return builder().brokers(brokers).start();
	}

	/**
	 * Returns the Kafka that all tests of this JVM share, and starts it first if
	 * necessary. Use topics and groups of your own, and do not stop or disturb it.
	 * @return the running Kafka, a single broker
	 */
	public static EmbeddedKafka shared() {
		return Shared.INSTANCE;
	}

	/**
	 * Returns a builder for other settings.
	 * @return the builder of a single broker without users
	 */
	public static Builder builder() {
		return new Builder();
	}

	/**
	 * Returns the value for {@code spring.kafka.bootstrap-servers}.
	 * @return the addresses of all brokers, the same after a restart
	 */
	public String bootstrapServers() {
		return this.ports.stream().map((port) -> "127.0.0.1:" + port).collect(Collectors.joining(","));
	}

	/**
	 * Returns the port of a broker.
	 * @param broker the number of the broker, from 1
	 * @return the port on this machine, the same after a restart
	 */
	public int port(int broker) {
		return this.ports.get(broker - 1);
	}

	/**
	 * Returns the properties that each client needs. With {@linkplain Builder#user users}
	 * they contain the credentials of one of them.
	 * @return address and security, as a new map
	 */
	public Map<String, Object> clientProperties() {
		Map<String, Object> properties = new LinkedHashMap<>(Map.of("bootstrap.servers", bootstrapServers()));
		this.users.entrySet()
			.stream()
			.findFirst()
			.ifPresent((user) -> properties.putAll(credentials(user.getKey(), user.getValue())));
		return properties;
	}

	/**
	 * Returns the properties by which a client authenticates itself.
	 * @param user the name, of a known user or not
	 * @param password the password, right or wrong
	 * @return the properties for SASL/PLAIN without encryption
	 */
	public static Map<String, String> credentials(String user, String password) {
		return Map.of("security.protocol", "SASL_PLAINTEXT", "sasl.mechanism", "PLAIN", "sasl.jaas.config",
				LOGIN + "username=\"%s\" password=\"%s\";".formatted(user, password));
	}

	/**
	 * Creates a topic with a replica at each broker and waits until clients can use it.
	 * @param name the name
	 * @param partitions the number of partitions
	 */
	public void createTopic(String name, int partitions) {
		createTopic(name, partitions, Map.of());
	}

	/**
	 * Creates a topic with a replica at each broker and waits until clients can use it.
	 * @param name the name
	 * @param partitions the number of partitions
	 * @param configuration settings of the topic, for example {@code cleanup.policy}
	 */
	public void createTopic(String name, int partitions, Map<String, String> configuration) {
		NewTopic topic = new NewTopic(name, Optional.of(partitions), Optional.of((short) this.brokers.size()))
			.configs(configuration);
		try (Admin admin = admin()) {
			await().until(() -> isCreated(admin, topic));
			awaitLeaders(admin, name);
		}
	}

	/**
	 * Creates a topic, unless the controller misses a broker: on a busy machine, a broker
	 * that has just started may be too late with a heartbeat.
	 */
	private static boolean isCreated(Admin admin, NewTopic topic) {
		try {
			reply(admin.createTopics(List.of(topic)).all());
			return true;
		}
		catch (IllegalStateException ex) {
			if (ex.getCause() instanceof InvalidReplicationFactorException) {
				return false;
			}
			throw ex;
		}
	}

	private void awaitLeaders(Admin admin, String topic) {
		// A broker that has not heard of the topic yet.
		await().ignoreExceptionsInstanceOf(IllegalStateException.class).until(() -> leadersReply(admin, topic));
	}

	private static ConditionFactory await() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(TIMEOUT_SECONDS))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(10));
	}

	private static boolean leadersReply(Admin admin, String topic) {
		Map<TopicPartition, OffsetSpec> beginnings = new LinkedHashMap<>();
		for (TopicPartitionInfo partition : partitions(admin, topic)) {
			if (partition.leader() == null || partition.leader().isEmpty()) {
				return false;
			}
			beginnings.put(new TopicPartition(topic, partition.partition()), OffsetSpec.earliest());
		}
		// Leaders are named before they accept records; they reply only afterwards.
		reply(admin.listOffsets(beginnings).all());
		return true;
	}

	private static List<TopicPartitionInfo> partitions(Admin admin, String topic) {
		TopicDescription description = reply(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic);
		return Objects.requireNonNull(description).partitions();
	}

	/**
	 * Returns the broker that leads a partition.
	 * @param topic the topic
	 * @param partition the partition
	 * @return the number of the broker, from 1; empty while there is none
	 */
	public Optional<Integer> leaderOf(String topic, int partition) {
		try (Admin admin = admin()) {
			Node leader = partitions(admin, topic).get(partition).leader();
			return Optional.ofNullable(leader).filter((node) -> !node.isEmpty()).map(Node::id);
		}
	}

	/**
	 * Returns a new client for everything else, for example {@code createPartitions},
	 * {@code deleteRecords} and {@code deleteTopics}.
	 * @return the client, to be closed by the caller
	 */
	public Admin admin() {
		Map<String, Object> properties = clientProperties();
		// A topic that was just created has a leader within milliseconds.
		properties.put(AdminClientConfig.RETRY_BACKOFF_MS_CONFIG, 10);
		return Admin.create(properties);
	}

	private static <T> T reply(KafkaFuture<T> future) {
		try {
			return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new IllegalStateException("Kafka does not reply within " + TIMEOUT_SECONDS + " s", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Returns whether the process of a broker runs.
	 * @param broker the number of the broker, from 1
	 * @return whether it runs, also if it is frozen
	 */
	public boolean isRunning(int broker) {
		return node(broker).isRunning();
	}

	/** Shuts all brokers down ({@code SIGTERM}) and waits for their end. */
	public void stop() {
		this.brokers.forEach(KafkaNode::stop);
	}

	/**
	 * Shuts a broker down ({@code SIGTERM}) and waits for its end. Others take over its
	 * partitions first.
	 * @param broker the number of the broker, from 1
	 */
	public void stop(int broker) {
		node(broker).stop();
	}

	/** Kills all brokers ({@code SIGKILL}) and waits for their end. */
	public void kill() {
		this.brokers.forEach(KafkaNode::kill);
	}

	/**
	 * Kills a broker ({@code SIGKILL}) and waits for its end. Others take over its
	 * partitions about 3 s later.
	 * @param broker the number of the broker, from 1
	 */
	public void kill(int broker) {
		node(broker).kill();
	}

	/** Kills all brokers that run, and starts them again with their data. */
	public void restart() {
		kill();
		launch(this.brokers);
	}

	/**
	 * Kills a broker if it runs, and starts it again with its data on the same port.
	 * Returns once it accepts connections, which may be before it leads a partition.
	 * @param broker the number of the broker, from 1
	 */
	public void restart(int broker) {
		node(broker).kill();
		launch(List.of(node(broker)));
	}

	/**
	 * Kills all brokers, removes the last records of a partition from their disks, and
	 * starts them again: what remains of acknowledged records after a disk was restored
	 * from an older copy, or after an unclean election. Records that were sent in one
	 * batch are lost together.
	 * @param topic the topic
	 * @param partition the partition
	 * @param first the offset of the first record to lose
	 * @return the offset of the first record that is lost, the next one to be given
	 * @throws IllegalArgumentException if the partition does not have the record
	 */
	public long loseRecords(String topic, int partition, long first) {
		kill();
		try {
			return this.brokers.stream()
				.mapToLong((broker) -> broker.loseRecords(topic, partition, first))
				.min()
				.orElseThrow();
		}
		finally {
			launch(this.brokers);
		}
	}

	/** Freezes all brokers ({@code SIGSTOP}). Their connections stay open. */
	public void freeze() {
		this.brokers.forEach(KafkaNode::freeze);
	}

	/**
	 * Freezes a broker ({@code SIGSTOP}). Its connections stay open.
	 * @param broker the number of the broker, from 1
	 */
	public void freeze(int broker) {
		node(broker).freeze();
	}

	/** Continues all brokers that are frozen ({@code SIGCONT}). */
	public void thaw() {
		this.brokers.forEach(KafkaNode::thaw);
	}

	/**
	 * Continues a frozen broker ({@code SIGCONT}).
	 * @param broker the number of the broker, from 1
	 */
	public void thaw(int broker) {
		node(broker).thaw();
	}

	/** Kills all processes and deletes their data. */
	@Override
	public void close() {
		killAll();
		try {
			Runtime.getRuntime().removeShutdownHook(this.killer);
		}
		catch (IllegalStateException ex) {
			// The JVM is shutting down already.
		}
	}

	private void killAll() {
		this.brokers.forEach(KafkaNode::kill);
		this.controllers.forEach(KafkaNode::kill);
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the directory of all processes. */
	Path directory() {
		return this.directory;
	}

	private KafkaNode node(int broker) {
		return this.brokers.get(broker - 1);
	}

	private void launchAll() {
		List<KafkaNode> all = new ArrayList<>(this.controllers);
		all.addAll(this.brokers);
		launch(all);
	}

	private static void launch(List<KafkaNode> nodes) {
		nodes.forEach(KafkaNode::launch);
		nodes.forEach(KafkaNode::awaitReady);
	}

	private static int freePort() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT);
			try (ServerSocket socket = new ServerSocket()) {
				socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
				return port;
			}
			catch (IOException ex) {
				// Taken; try another one.
			}
		}
	}

	/**
	 * Builder of an {@link EmbeddedKafka}. Confined to one thread.
	 */
	public static final class Builder {

		private final Map<String, String> users = new LinkedHashMap<>();

		private final Map<String, String> settings = new LinkedHashMap<>();

		private List<String> javaOptions = List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

		private String classPath = "";

		private int brokers = 1;

		private boolean kafkaDefaults;

		private Builder() {
		}

		/**
		 * Sets the number of brokers.
		 * @param brokers at least 1
		 * @return this builder
		 */
		public Builder brokers(int brokers) {
			if (brokers < 1) {
				throw new IllegalArgumentException("At least 1 broker is needed, not " + brokers);
			}
			this.brokers = brokers;
			return this;
		}

		/**
		 * Adds a user, so that clients have to authenticate themselves by SASL/PLAIN.
		 * @param name the name
		 * @param password the password
		 * @return this builder
		 * @see EmbeddedKafka#credentials
		 */
		public Builder user(String name, String password) {
			this.users.put(name, password);
			return this;
		}

		/**
		 * Sets a property of all brokers.
		 * @param name the name in {@code server.properties}
		 * @param value the value
		 * @return this builder
		 */
		public Builder setting(String name, String value) {
			this.settings.put(name, value);
			return this;
		}

		/**
		 * Leaves everything at Kafka's defaults that works with the number of brokers,
		 * which makes tests slower. For measurements.
		 * @return this builder
		 */
		public Builder kafkaDefaults() {
			this.kafkaDefaults = true;
			return this;
		}

		/**
		 * Sets the options of the brokers' JVMs, which have a heap of 256 MB otherwise.
		 * @param options all options
		 * @return this builder
		 */
		public Builder javaOptions(String... options) {
			this.javaOptions = List.of(options);
			return this;
		}

		/**
		 * Sets where the broker's classes are, if they are not on the class path of this
		 * JVM.
		 * @param classPath the class path, as for {@code java -cp}
		 * @return this builder
		 */
		public Builder classPath(String classPath) {
			this.classPath = classPath;
			return this;
		}

		/**
		 * Starts the brokers and waits until they accept connections.
		 * @return the running Kafka
		 * @throws IllegalStateException if the broker's classes are not on the class path
		 * @throws RuntimeException if one of them does not start, with the end of its log
		 * in the message
		 */
		public EmbeddedKafka start() {
			if (this.classPath.isEmpty() && !ClassUtils.isPresent("kafka.server.KafkaRaftServer", null)) {
				throw new IllegalStateException("EmbeddedKafka needs the classes of the broker. Add the dependency "
						+ DEPENDENCY + " with scope test; spring-boot-dependencies has its version.");
			}
			for (int attempt = 1;; attempt++) {
				EmbeddedKafka kafka = new EmbeddedKafka(this);
				try {
					kafka.launchAll();
					return kafka;
				}
				catch (RuntimeException ex) {
					kafka.close();
					// Another process may have taken a port meanwhile.
					if (attempt == ATTEMPTS || !(ex instanceof KafkaNode.StartFailedException failed)
							|| !failed.isPortInUse()) {
						throw ex;
					}
				}
			}
		}

		private KafkaNode node(String name, Path directory, Map<String, String> settings, String clusterId) {
			String separator = this.classPath.isEmpty() ? "" : File.pathSeparator;
			return new KafkaNode(name, directory, settings, clusterId, this.javaOptions,
					System.getProperty("java.class.path") + separator + this.classPath);
		}

		private Map<String, String> settings(int id, String roles, int controllerPort) {
			int controller = (this.brokers == 1) ? 1 : 0;
			Map<String, String> all = new LinkedHashMap<>();
			all.put("process.roles", roles);
			all.put("node.id", String.valueOf(id));
			all.put("controller.quorum.voters", controller + "@127.0.0.1:" + controllerPort);
			all.put("controller.listener.names", "CONTROLLER");
			all.put("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:"
					+ (this.users.isEmpty() ? "PLAINTEXT" : "SASL_PLAINTEXT"));
			if (!this.users.isEmpty()) {
				all.put("sasl.enabled.mechanisms", "PLAIN");
				all.put("listener.name.client.plain.sasl.jaas.config",
						this.users.entrySet()
							.stream()
							.map((user) -> "user_%s=\"%s\"".formatted(user.getKey(), user.getValue()))
							.collect(Collectors.joining(" ", LOGIN, ";")));
			}
			String replicas = String.valueOf(Math.min(this.brokers, 3));
			for (String topic : Set.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
				all.put(topic + ".replication.factor", replicas);
			}
			for (String topic : Set.of("transaction.state.log", "share.coordinator.state.topic")) {
				all.put(topic + ".min.isr", "1");
			}
			if (!this.kafkaDefaults) {
				addShortTimes(all);
			}
			all.putAll(this.settings);
			return all;
		}

		private void addShortTimes(Map<String, String> all) {
			all.putAll(Map.of("auto.create.topics.enable", "false", "group.initial.rebalance.delay.ms", "0",
					"offsets.topic.num.partitions", "1", "transaction.state.log.num.partitions", "1",
					"share.coordinator.state.topic.num.partitions", "1", "num.network.threads", "2", "num.io.threads",
					"4", "background.threads", "2"));
			// Compaction and retention act soon, and with less memory.
			all.putAll(Map.of("log.initial.task.delay.ms", "500", "log.cleaner.backoff.ms", "500",
					"log.cleaner.dedupe.buffer.size", "4194304", "log.retention.check.interval.ms", "1000"));
			// A topic without limits keeps the records of a test, however old their
			// timestamps are.
			all.put("log.retention.ms", "-1");
			// A killed broker cannot return before its session has ended; one that is
			// slow
			// for longer is fenced.
			all.put("broker.session.timeout.ms", "3000");
			all.put("broker.heartbeat.interval.ms", "500");
		}

	}

	/** Holder that starts the shared Kafka on first use. */
	private static final class Shared {

		private static final EmbeddedKafka INSTANCE = EmbeddedKafka.start();

	}

}
