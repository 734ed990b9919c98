package io.github.shardkeeper.autoconfigure.properties;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.retry.RetryPolicy;

import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Buffer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Commit;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Consumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.DeadLetterLimits;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Handover;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Mode;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.OnLeave;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.ParkKey;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Retry;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Schedule;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.SessionTimes;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Template;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Trim;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.TrimRule;
import io.github.shardkeeper.template.SendSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings;
import io.github.shardkeeper.worker.shard.ConsumerSettings.BufferLimits;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Commits;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Parking;

/** Settings of the engine, made from validated properties. Immutable. */
public final class ShardkeeperSettings {

	private static final Duration DEFAULT_SHUTDOWN_PHASE = Duration.ofSeconds(30);

	/** Of a shard that keeps nothing beyond the memory of this instance. */
	private static final Long MAX_LETTERS_IN_MEMORY = 1000L;

	private final ShardkeeperProperties properties;

	private final Environment environment;

	private final Duration shutdownPhase;

	/**
	 * Validates the properties.
	 * @param properties the properties
	 * @param environment environment with Spring's own properties that are defaults here
	 * @throws ShardkeeperConfigurationException if a property is not valid
	 */
	public ShardkeeperSettings(ShardkeeperProperties properties, Environment environment) {
		this.properties = properties;
		this.environment = environment;
		this.shutdownPhase = Binder.get(environment)
			.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
			.orElse(DEFAULT_SHUTDOWN_PHASE);
		PropertiesValidator.validate(properties, environment, this.shutdownPhase);
	}

	/**
	 * Checks the names of what is set below {@code shardkeeper} where all groups have
	 * names, and their own environments check the values.
	 * @throws ShardkeeperConfigurationException if a name is not valid
	 */
	public static void requireNames(Environment environment) {
		PropertyProblems problems = new PropertyProblems();
		boolean strict = environment.getProperty("shardkeeper.strict-properties", Boolean.class, false);
		new PropertyNames(environment, strict, problems).check();
		problems.throwIfAny();
	}

	public ShardkeeperProperties properties() {
		return this.properties;
	}

	/**
	 * Returns how long leaving may take: less than the shutdown phase, so that an
	 * instance whose drain is unfinished still leaves in order.
	 */
	public Duration leaveTimeout() {
		return this.shutdownPhase.multipliedBy(9).dividedBy(10);
	}

	/** Returns the member's settings; each call makes another default instance id. */
	public CoordinationSettings coordination() {
		ShardkeeperProperties.Session session = this.properties.session();
		SessionTimes times = session.times();
		ShardkeeperProperties.Assignment assignment = this.properties.assignment();
		String instance = textOrNull(this.properties.instanceId());
		return new CoordinationSettings(group(), (instance != null) ? instance : DefaultInstanceId.next(),
				times.heartbeatInterval(), times.lease(), times.timeout(), this.properties.rebalance().settleTime(),
				version(), handoverRules(), assignment.capacity(), textOrNull(assignment.zone()),
				(session.onLeave() == OnLeave.KEEP) ? session.awayTimeout() : Duration.ZERO);
	}

	private String group() {
		String group = textOrNull(this.properties.group());
		if (group != null) {
			return group;
		}
		String applicationName = this.environment.getProperty("spring.application.name", "");
		if (applicationName.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"Neither 'shardkeeper.group' nor 'spring.application.name' is set.",
					"Set 'shardkeeper.group' to the name that all instances of this application share.");
		}
		return Names.requireValid(applicationName,
				"spring.application.name, which is the default of shardkeeper.group");
	}

	/** Defaults to the version that Spring Boot reads from the application's manifest. */
	private ApplicationVersion version() {
		String version = this.properties.version();
		if (version == null || version.isBlank()) {
			version = this.environment.getProperty("spring.application.version", "");
		}
		return new ApplicationVersion(version.strip());
	}

	private HandoverRules handoverRules() {
		Handover handover = this.properties.handover();
		return new HandoverRules(handover.timeoutWithin(this.shutdownPhase), handover.onTimeout(),
				handover.quietPeriod(), handover.crashQuietPeriod(), handover.maxConcurrentMoves());
	}

	/**
	 * Returns the consumer settings of a topic, also of one that is not configured.
	 * @param failureHandlers the failure handlers by topic
	 */
	public Function<String, ConsumerSettings> consumers(Function<String, List<FailureHandler>> failureHandlers) {
		Map<String, ConsumerSettings> byTopic = new ConcurrentHashMap<>();
		return (topic) -> byTopic.computeIfAbsent(topic,
				(name) -> consumer(consumer(name), failureHandlers.apply(name)));
	}

	/**
	 * {@return how a topic is consumed, also one that is not configured}
	 */
	public Consumer consumer(String topic) {
		ShardkeeperProperties.Topic configured = this.properties.topics().get(topic);
		Consumer all = this.properties.consumer();
		return (configured != null) ? all.overriddenBy(configured.consumer()) : all;
	}

	/**
	 * {@return whether a topic is consumed before the application starts it}
	 */
	public Predicate<String> autoStartup() {
		Set<String> waiting = topics(
				(topic) -> !this.properties.consumer().overriddenBy(topic.consumer()).autoStartup());
		return (topic) -> !waiting.contains(topic);
	}

	private ConsumerSettings consumer(Consumer consumer, List<FailureHandler> failureHandlers) {
		Commit commit = consumer.commit();
		Buffer buffer = consumer.buffer();
		return new ConsumerSettings(new Commits(commit.mode(), commit.interval(), commit.records()),
				consumer.ordering(), consumer.concurrency(), consumer.maxAhead(), consumer.batchSize(),
				new BufferLimits(buffer.records(), buffer.size().toBytes()), this.properties.maxRecordSize().toBytes(),
				retryPolicy(consumer.retry()), consumer.onFailure(), consumer.retryQueue().delays(),
				consumer.retryQueue().maxAge(), parking(consumer.parkKey()), consumer.state().read(),
				consumer.state().ttl(), consumer.longCall(), consumer.maxConversionFailures(),
				consumer.showExceptionMessages(), failureHandlers);
	}

	private static Parking parking(ParkKey parkKey) {
		return new Parking(parkKey.maxKeys(), parkKey.maxRecords(), parkKey.afterDelays());
	}

	/**
	 * {@return the configured schedule of a topic}
	 */
	public Function<String, TopicSchedule> schedules() {
		Map<String, TopicSchedule> byTopic = new TreeMap<>();
		this.properties.topics().forEach((name, topic) -> {
			Schedule schedule = topic.schedule();
			byTopic.put(name, new TopicSchedule(textOrNull(schedule.cron()), textOrNull(schedule.zone()),
					schedule.interval(), schedule.onInterruption(), schedule.missedRuns(), schedule.missedAfter()));
		});
		return (topic) -> byTopic.getOrDefault(topic, TopicSchedule.NONE);
	}

	private static RetryPolicy retryPolicy(Retry retry) {
		List<Class<? extends Throwable>> excludes = retry.excludes();
		return RetryPolicy.builder()
			.maxRetries(retry.maxAttempts() - 1L)
			.delay(retry.initialInterval())
			.multiplier(retry.multiplier())
			.maxDelay(retry.maxInterval())
			.excludes(excludes)
			.build();
	}

	public SendSettings sending() {
		Template template = this.properties.template();
		return new SendSettings(this.properties.maxRecordSize().toBytes(), template.maxInFlight(),
				template.maxInFlightSize().toBytes(), template.retries());
	}

	public MoveHistory.Bounds history() {
		return new MoveHistory.Bounds(this.properties.history().maxMoves(), this.properties.history().retention());
	}

	/**
	 * Returns the configured topics whose handlers are called in a transaction, or not.
	 */
	public Set<String> topics(CallTransaction transaction) {
		Consumer all = this.properties.consumer();
		return topics((topic) -> all.overriddenBy(topic.consumer()).transaction() == transaction);
	}

	/** Returns whether a topic's offsets are in the application's database. */
	public boolean isInDatabase(String topic) {
		return consumer(topic).transaction() == CallTransaction.JDBC;
	}

	public Set<String> broadcastTopics() {
		return topics((topic) -> topic.mode() == Mode.BROADCAST);
	}

	/** Returns the broadcast topics of which this instance keeps offsets. */
	public Set<String> resumingTopics() {
		return topics((topic) -> topic.mode() == Mode.BROADCAST && topic.resume());
	}

	private Set<String> topics(Predicate<ShardkeeperProperties.Topic> condition) {
		return this.properties.topics()
			.entrySet()
			.stream()
			.filter((topic) -> condition.test(topic.getValue()))
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/** Returns where topics start that do not start at their earliest record. */
	public Map<String, StartPosition> startPositions() {
		Map<String, StartPosition> positions = new TreeMap<>();
		this.properties.topics().forEach((name, topic) -> positions.put(name, StartPosition.parse(topic.start())));
		positions.values().removeIf(StartPosition.EARLIEST::equals);
		return positions;
	}

	/** Returns the dead letters to keep, of topics that have a limit. */
	public Map<String, DeadLetterStore.Retention> deadLetterRetentions() {
		Map<String, DeadLetterStore.Retention> retentions = new HashMap<>();
		this.properties.topics().forEach((name, topic) -> {
			DeadLetterLimits limits = this.properties.consumer().overriddenBy(topic.consumer()).deadLetters();
			boolean inMemory = topic.mode() == Mode.BROADCAST && !topic.resume();
			Long maxCount = (limits.maxCount() == null && inMemory) ? MAX_LETTERS_IN_MEMORY : limits.maxCount();
			DeadLetterStore.Retention retention = new DeadLetterStore.Retention(limits.maxAge(), maxCount);
			if (retention.hasLimit()) {
				retentions.put(name, retention);
			}
		});
		return retentions;
	}

	public Map<String, TrimRule> trimRules() {
		Map<String, TrimRule> rules = new HashMap<>();
		this.properties.topics().forEach((name, topic) -> {
			Trim trim = topic.trim();
			if (trim.hasLimit()) {
				rules.put(name, new TrimRule(trim.maxLength(), trim.maxAge(), trim.beyondCheckpoints()));
			}
		});
		return rules;
	}

	/**
	 * Returns the selectors of the topics that name one.
	 * @param beans the application's selectors by the names of their beans
	 * @throws ShardkeeperConfigurationException if there is no bean of a name
	 */
	public Map<String, ShardSelector> selectors(Map<String, ShardSelector> beans) {
		Map<String, ShardSelector> byTopic = new HashMap<>();
		this.properties.topics().forEach((name, topic) -> {
			String bean = textOrNull(topic.selector());
			if (bean == null) {
				return;
			}
			ShardSelector selector = beans.get(bean);
			if (selector == null) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.selector' is '%s', but there is no ShardSelector bean of that name."
							.formatted(name, bean),
						beans.isEmpty() ? "Define the bean, or leave the property out: then the key decides."
								: "Write one of %s, or leave the property out."
									.formatted(String.join(", ", new TreeSet<>(beans.keySet()))));
			}
			byTopic.put(name, selector);
		});
		return byTopic;
	}

	/** Returns the names of the converters of the topics that name one. */
	public Map<String, String> converters() {
		return names(ShardkeeperProperties.Topic::converter);
	}

	/** Returns the names of the failure handlers of the topics that name one. */
	public Map<String, String> failureHandlers() {
		return names(ShardkeeperProperties.Topic::failureHandler);
	}

	private Map<String, String> names(Function<ShardkeeperProperties.Topic, @Nullable String> property) {
		Map<String, String> byTopic = new TreeMap<>();
		this.properties.topics().forEach((name, topic) -> {
			String bean = textOrNull(property.apply(topic));
			if (bean != null) {
				byTopic.put(name, bean);
			}
		});
		return byTopic;
	}

	/** Returns a text, or {@code null} for an empty one, which counts as not set. */
	public static @Nullable String textOrNull(@Nullable String value) {
		return (value == null || value.isEmpty()) ? null : value;
	}

	/**
	 * Default of {@code shardkeeper.instance-id}: host name and process id, and a number
	 * for each further application context, which is an instance of its own. Thread-safe.
	 */
	private static final class DefaultInstanceId {

		/** System property, because each web application of a server loads this class. */
		private static final String CONTEXTS = DefaultInstanceId.class.getName() + ".contexts";

		private static final int MAX_HOST_LENGTH = 60;

		private DefaultInstanceId() {
		}

		static String next() {
			String host;
			try {
				host = InetAddress.getLocalHost().getHostName();
			}
			catch (UnknownHostException ex) {
				host = "localhost";
			}
			String readable = host.replaceAll("[^A-Za-z0-9-]", "-").replaceAll("^-+", "");
			readable = readable.isEmpty() ? "host"
					: readable.substring(0, Math.min(readable.length(), MAX_HOST_LENGTH));
			int context = nextContext();
			return readable + "-" + ProcessHandle.current().pid() + ((context > 1) ? "-" + context : "");
		}

		private static int nextContext() {
			Object count = System.getProperties()
				.merge(CONTEXTS, "1", (before, one) -> Integer.toString(Integer.parseInt(before.toString()) + 1));
			return Integer.parseInt(String.valueOf(count));
		}

	}

}
