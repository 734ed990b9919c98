package io.github.shardkeeper.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.env.DefaultPropertiesPropertySource;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.autoconfigure.failure.TopicFailureHandlers;
import io.github.shardkeeper.autoconfigure.properties.GroupEnvironment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Consumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.OnLeave;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.source.SourceSelection;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.text.NearestName;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;

/**
 * Says once the application has started which of its settings have no effect, because of
 * others or because of its handlers: a line for each. Defaults are not settings, also
 * those of {@code SpringApplication.setDefaultProperties}. What contradicts itself fails
 * startup instead. Thread-safe.
 */
final class SettingsWithoutEffect implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = PrintableLogger.of(SettingsWithoutEffect.class);

	private static final Set<String> WITHOUT_CAPACITY = Set.of("range", "average", "round-robin", "circle");

	private static final Set<String> WITHOUT_WEIGHTS = with(WITHOUT_CAPACITY, "consistent-hash");

	private static final Set<String> WITHOUT_ZONES = with(WITHOUT_WEIGHTS, "incremental");

	private static final String USE_STICKY = "Use the strategy 'sticky'";

	/** Below {@code shardkeeper}. */
	private static final List<Rule<Application>> OF_APPLICATION = List.of(
			new Rule<>((app) -> !app.isVersionOrdered(),
					"a version that does not begin with a number is neither newer nor older than another one",
					"Begin it with a number that grows, such as '1.4.0' or '117-b81e2d4'", "version"),
			new Rule<>((app) -> app.set().session().onLeave() != OnLeave.KEEP,
					"no shards are kept for an instance that leaves", "Set 'shardkeeper.session.on-leave' to 'keep'",
					"session.away-timeout"),
			new Rule<>((app) -> app.set().redis().waitForReplicas() == 0, "no change waits for replicas",
					"Set 'shardkeeper.redis.wait-for-replicas' to 1 or more", "redis.wait-timeout"),
			new Rule<>((app) -> app.set().store() == ShardkeeperProperties.Store.REDIS && !app.reads("redis"),
					"no topic has the source 'redis'", "Set the source of a topic to 'redis'", "redis.record-ids"),
			new Rule<>((app) -> !app.reads("kafka"), "no topic has the source 'kafka'",
					"Set the source of a topic to 'kafka'", "kafka"),
			new Rule<>((app) -> !app.reads("sls"), "no topic has the source 'sls'",
					"Set the source of a topic to 'sls'", "sls"),
			new Rule<>((app) -> !app.hasTransactions(),
					"no topic has 'consumer.transaction: jdbc', so it is used only if shards come back from the database",
					"Set 'shardkeeper.consumer.transaction' to 'jdbc'", "jdbc"),
			new Rule<>((app) -> !app.assignment().strategy().usesLoad(), "no strategy in use measures loads",
					"Set 'shardkeeper.assignment.strategy' to 'load-aware'", "assignment.load"),
			new Rule<>((app) -> !app.assignment().foreign(),
					"it limits AssignmentStrategy and ShardCatalog beans, and none is used",
					"Define such a bean, or name the one to use", "assignment.timeout"),
			new Rule<>((app) -> WITHOUT_CAPACITY.containsAll(app.strategies()),
					"the strategies in use ignore the capacity of instances", USE_STICKY, "assignment.capacity"),
			new Rule<>((app) -> WITHOUT_ZONES.containsAll(app.strategies()), "the strategies in use ignore zones",
					USE_STICKY, "assignment.zone"),
			new Rule<>((app) -> app.set().history().maxMoves() == 0, "no history is kept",
					"Set 'shardkeeper.history.max-moves' to 1 or more", "history.retention"),
			new Rule<>((app) -> app.set().observations().enabled() && !app.isObserved(),
					"there is no ObservationRegistry bean", "Add 'spring-boot-starter-actuator'",
					"observations.enabled"),
			new Rule<>(Application::repeatsNothing, "no topic is in Redis or in memory",
					"Set the source of a topic to 'redis'", "template.retries"),
			new Rule<>(Application::sendsNothing, "no @ShardConsumer method takes a ShardOutput",
					"Add such a parameter", "outbox"),
			new Rule<>(Application::hasVirtualThreads, "handlers run on virtual threads",
					"Set 'spring.threads.virtual.enabled' to 'false'", "consumer.threads"));

	/** Below {@code shardkeeper.topics.<name>}. */
	private static final List<Rule<ConfiguredTopic>> OF_TOPIC = List.of(
			new Rule<>((topic) -> !Set.of("redis", "memory", SourceSelection.FIXED).contains(topic.source()),
					"the shards of the topic are those of its source", "Set their number there", "shards"),
			new Rule<>((topic) -> topic.source().equals(SourceSelection.FIXED),
					"the shards of the topic have no records", "Set another source", "converter", "failure-handler"),
			new Rule<>((topic) -> WITHOUT_WEIGHTS.contains(topic.strategy()), "the topic's strategy ignores weights",
					USE_STICKY, "weights"),
			new Rule<>((topic) -> WITHOUT_ZONES.contains(topic.strategy()), "the topic's strategy ignores zones",
					USE_STICKY, "zones"),
			new Rule<>((topic) -> topic.set().trim().beyondCheckpoints() && !topic.set().trim().hasLimit(),
					"nothing of the topic is trimmed", "Set 'max-length' or 'max-age' beside it",
					"trim.beyond-checkpoints"));

	/**
	 * Below {@code shardkeeper.consumer} and {@code shardkeeper.topics.<name>.consumer}.
	 */
	private static final List<Rule<Consumption>> OF_CONSUMER = List.of(
			new Rule<>(Consumption::isWithoutRecords, "the @ShardConsumer method takes no records",
					"Add a parameter for the record", "ordering", "concurrency", "max-ahead", "batch-size", "buffer",
					"retry", "on-failure", "failures", "retry-queue", "park-key", "max-conversion-failures"),
			new Rule<>((consumption) -> consumption.set().ordering() == Ordering.SHARD,
					"calls of a shard are one after the other with 'consumer.ordering: shard'",
					"Set the ordering to 'key' or 'none'", "concurrency"),
			new Rule<>((consumption) -> consumption.shape() == HandlerShape.RECORD,
					"the @ShardConsumer method takes one record at a time", "Take a list of records", "batch-size"),
			new Rule<>(Consumption::isOneByOne, "a shard has one record at a time with 'consumer.ordering: shard'",
					"Set the ordering to 'key' or 'none'", "max-ahead"),
			new Rule<>((consumption) -> !consumption.queues(),
					"failed records do not go to the retry queue with this 'consumer.on-failure'",
					"Set it to 'retry-queue' or 'park-key'", "retry-queue"),
			new Rule<>((consumption) -> consumption.set().onFailure() == OnFailure.PARK_KEY,
					"a key waits for its record for any time with 'consumer.on-failure: park-key'",
					"Set it to 'retry-queue'", "retry-queue.max-age"),
			new Rule<>((consumption) -> consumption.set().onFailure() != OnFailure.PARK_KEY,
					"no key waits for a failed record with this 'consumer.on-failure'", "Set it to 'park-key'",
					"park-key"),
			new Rule<>((consumption) -> consumption.set().retry().maxAttempts() == 1,
					"there are no retries in place with 'consumer.retry.max-attempts: 1'", "Set it to 2 or more",
					"retry.initial-interval", "retry.multiplier", "retry.max-interval"),
			new Rule<>((consumption) -> consumption.set().retry().maxAttempts() == 1 && !consumption.queues(),
					"no failed record is retried with 'consumer.retry.max-attempts: 1' and this 'consumer.on-failure'",
					"Set the attempts to 2 or more", "retry.excludes"),
			new Rule<>((consumption) -> consumption.set().onFailure() == OnFailure.HALT && !consumption.chooses(),
					"the first record that cannot be converted halts its shard with 'consumer.on-failure: halt'",
					"Set it to 'dead-letter'", "max-conversion-failures"));

	/** Settings of a topic that also instances without a handler for it use. */
	private static final List<String> OF_ALL_INSTANCES = List.of("consumer.deadletters", "consumer.transaction");

	private final ConfigurableApplicationContext context;

	private final ShardkeeperProperties properties;

	private final AssignmentSettings assignment;

	private final SourceRegistry sources;

	private final ShardConsumerRunner runner;

	private final TopicFailureHandlers failureHandlers;

	SettingsWithoutEffect(ConfigurableApplicationContext context, ShardkeeperProperties properties,
			AssignmentSettings assignment, SourceRegistry sources, ShardConsumerRunner runner,
			TopicFailureHandlers failureHandlers) {
		this.context = context;
		this.properties = properties;
		this.assignment = assignment;
		this.sources = sources;
		this.runner = runner;
		this.failureHandlers = failureHandlers;
	}

	/** The handlers are known: they were checked before. */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context) {
			Map<String, ShardHandler> handlers = this.runner.handlers();
			SetNames names = SetNames.of(this.context.getEnvironment());
			reportOfApplication(names, handlers);
			names.ofTopics().forEach((topic, ofTopic) -> reportOfTopic(topic, ofTopic, handlers));
		}
	}

	private void reportOfApplication(SetNames names, Map<String, ShardHandler> handlers) {
		Application application = new Application(this.properties, this.sources, this.assignment, handlers.values(),
				Threading.VIRTUAL.isActive(this.context.getEnvironment()),
				this.context.containsBean(ObservationConfiguration.CALLS));
		OF_APPLICATION.forEach((rule) -> rule.settings()
			.filter((setting) -> names.has(setting) && rule.withoutEffect().test(application))
			.forEach((setting) -> report(prefix() + setting, rule)));
		List<Consumption> consumptions = handlers.values().stream().map(this::consumption).toList();
		OF_CONSUMER.stream().flatMap(Rule::settings).distinct().forEach((setting) -> {
			if (names.has("consumer." + setting)) {
				List<Rule<Consumption>> found = consumptions.stream()
					.map((consumption) -> find(setting, consumption))
					.filter(Objects::nonNull)
					.toList();
				if (!found.isEmpty() && found.size() == consumptions.size()) {
					report(prefix() + "consumer." + setting, found.get(0));
				}
			}
		});
	}

	private void reportOfTopic(String topic, SetNames names, Map<String, ShardHandler> handlers) {
		String prefix = prefix() + "topics.%s.".formatted(topic);
		Topic configured = this.properties.topics().get(topic);
		if (configured == null || !this.sources.names().contains(topic)) {
			logger.warn(
					"'{}topics.{}' is set, but has no effect: no source has such a topic.{} "
							+ "Correct the name, or remove the properties.",
					prefix(), topic, NearestName.question(topic, this.sources.names()));
			return;
		}
		ConfiguredTopic facts = new ConfiguredTopic(configured, this.sources.name(topic),
				strategy(this.properties, configured));
		OF_TOPIC.forEach((rule) -> rule.settings()
			.filter((setting) -> names.has(setting) && rule.withoutEffect().test(facts))
			.forEach((setting) -> report(prefix + setting, rule)));
		ShardHandler handler = handlers.get(topic);
		if (handler == null) {
			reportWithoutHandler(topic, names, handlers.keySet());
			return;
		}
		Consumption consumption = consumption(handler);
		OF_CONSUMER.stream().flatMap(Rule::settings).distinct().forEach((setting) -> {
			Rule<Consumption> rule = names.has("consumer." + setting) ? find(setting, consumption) : null;
			if (rule != null) {
				report(prefix + "consumer." + setting, rule);
			}
		});
	}

	/**
	 * An application may only send to a topic, or leave it to other instances; but then
	 * it needs no settings of a consumer. One without any handler shares them with others
	 * that have some.
	 */
	private void reportWithoutHandler(String topic, SetNames names, Set<String> handled) {
		if (handled.isEmpty()) {
			return;
		}
		List<String> ofConsumer = Stream.of("consumer", "schedule", "start", "resume")
			.filter((setting) -> names.without(OF_ALL_INSTANCES).has(setting))
			.toList();
		String question = NearestName.question(topic, handled);
		ofConsumer.forEach((setting) -> logger.warn(
				"'{}topics.{}.{}' is set, but has no effect here: no @ShardConsumer method of this instance "
						+ "consumes the topic.{} Correct the name, remove the property, or register a handler.",
				prefix(), topic, setting, question));
		if (ofConsumer.isEmpty() && !question.isEmpty()) {
			logger.info("No @ShardConsumer method of this instance consumes the topic '{}', which is configured.{}",
					topic, question);
		}
	}

	private String prefix() {
		return GroupEnvironment.prefix(this.context.getEnvironment()) + ".";
	}

	private Consumption consumption(ShardHandler handler) {
		Topic topic = this.properties.topics().get(handler.topic());
		Consumer all = this.properties.consumer();
		return new Consumption((topic != null) ? all.overriddenBy(topic.consumer()) : all, handler.shape(),
				!this.failureHandlers.of(handler.topic()).isEmpty());
	}

	private static @Nullable Rule<Consumption> find(String setting, Consumption consumption) {
		return OF_CONSUMER.stream()
			.filter((rule) -> rule.settings().anyMatch(setting::equals) && rule.withoutEffect().test(consumption))
			.findFirst()
			.orElse(null);
	}

	private static void report(String property, Rule<?> rule) {
		logger.warn("'{}' is set, but has no effect: {}. {}, or remove the property.", property, rule.why(),
				rule.instead());
	}

	/**
	 * Returns the name of a topic's strategy; empty for the default, which may be own.
	 */
	private static String strategy(ShardkeeperProperties properties, @Nullable Topic topic) {
		String ofTopic = (topic != null) ? topic.strategy() : null;
		String name = StringUtils.hasLength(ofTopic) ? ofTopic : properties.assignment().strategy();
		return (name != null) ? name : "";
	}

	private static Set<String> with(Set<String> names, String another) {
		return Stream.concat(names.stream(), Stream.of(another)).collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * A rule about settings.
	 *
	 * @param withoutEffect whether the settings have no effect
	 * @param why the reason; continues a sentence
	 * @param instead what to do to give them an effect; begins a sentence
	 * @param names their names below a prefix, each of a property or of all that are
	 * below it
	 */
	private record Rule<T>(Predicate<T> withoutEffect, String why, String instead, List<String> names) {

		Rule(Predicate<T> withoutEffect, String why, String instead, String... names) {
			this(withoutEffect, why, instead, List.of(names));
		}

		Stream<String> settings() {
			return this.names.stream();
		}

	}

	/** What rules about the whole application ask. */
	private record Application(ShardkeeperProperties set, SourceRegistry sources, AssignmentSettings assignment,
			Collection<ShardHandler> handlers, boolean hasVirtualThreads, boolean isObserved) {

		boolean isVersionOrdered() {
			String version = this.set.version();
			return version == null || version.isBlank() || new ApplicationVersion(version.strip()).isOrdered();
		}

		boolean reads(String source) {
			return this.sources.names().stream().anyMatch((topic) -> this.sources.name(topic).equals(source));
		}

		boolean repeatsNothing() {
			return this.sources.names()
				.stream()
				.noneMatch((topic) -> this.sources.of(topic) instanceof IdempotentAppender);
		}

		/** Without any handler, it shares its settings with others that may send. */
		boolean sendsNothing() {
			return !this.handlers.isEmpty() && this.handlers.stream().noneMatch(ShardHandler::takesOutput);
		}

		boolean hasTransactions() {
			Consumer all = this.set.consumer();
			return Stream
				.concat(Stream.of(all), this.set.topics().values().stream().map(Topic::consumer).map(all::overriddenBy))
				.anyMatch((consumer) -> consumer.transaction() == CallTransaction.JDBC);
		}

		List<String> strategies() {
			List<String> names = new ArrayList<>(List.of(strategy(this.set, null)));
			this.set.topics().values().forEach((topic) -> names.add(strategy(this.set, topic)));
			return names;
		}

	}

	/** What rules about a topic ask. */
	private record ConfiguredTopic(Topic set, String source, String strategy) {

	}

	/**
	 * What rules about the consumption of a topic on this instance ask.
	 *
	 * @param chooses whether failure handlers choose what becomes of failed records
	 */
	private record Consumption(Consumer set, HandlerShape shape, boolean chooses) {

		boolean isWithoutRecords() {
			return this.shape == HandlerShape.LOOP;
		}

		boolean isOneByOne() {
			return this.shape == HandlerShape.RECORD && this.set.ordering() == Ordering.SHARD
					&& this.set.commit().mode() != CommitMode.MANUAL;
		}

		boolean queues() {
			return this.chooses || this.set.onFailure() == OnFailure.RETRY_QUEUE
					|| this.set.onFailure() == OnFailure.PARK_KEY;
		}

	}

	/**
	 * Names of the properties that are set, below a prefix, in lower case and without
	 * dashes.
	 *
	 * @param names the names below the prefix
	 * @param ofTopics those of topics, by topic
	 */
	private record SetNames(Set<String> names, Map<String, SetNames> ofTopics) {

		private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

		private static final ConfigurationPropertyName TOPICS = PREFIX.append("topics");

		private SetNames() {
			this(new TreeSet<>(), new TreeMap<>());
		}

		static SetNames of(ConfigurableEnvironment environment) {
			SetNames all = new SetNames();
			ConfigurationPropertySources.get(environment).forEach((source) -> {
				boolean defaults = source.getUnderlyingSource() instanceof PropertySource<?> underlying
						&& DefaultPropertiesPropertySource.hasMatchingName(underlying);
				if (!defaults && source instanceof IterableConfigurationPropertySource iterable) {
					iterable.stream().forEach(all::add);
				}
			});
			return all;
		}

		private void add(ConfigurationPropertyName name) {
			if (TOPICS.isAncestorOf(name)) {
				this.ofTopics.computeIfAbsent(name.getElement(2, Form.ORIGINAL), (topic) -> new SetNames()).names
					.add(below(name, 3));
			}
			else if (PREFIX.isAncestorOf(name)) {
				this.names.add(below(name, 1));
			}
		}

		private static String below(ConfigurationPropertyName name, int first) {
			return IntStream.range(first, name.getNumberOfElements())
				.mapToObj((i) -> name.getElement(i, Form.UNIFORM))
				.collect(Collectors.joining("."));
		}

		/** Returns whether a property is set, or one below it. */
		boolean has(String setting) {
			String uniform = setting.replace("-", "");
			return this.names.stream().anyMatch((name) -> name.equals(uniform) || name.startsWith(uniform + "."));
		}

		SetNames without(List<String> prefixes) {
			return new SetNames(this.names.stream()
				.filter((name) -> prefixes.stream().noneMatch(name::startsWith))
				.collect(Collectors.toSet()), this.ofTopics);
		}

	}

}
