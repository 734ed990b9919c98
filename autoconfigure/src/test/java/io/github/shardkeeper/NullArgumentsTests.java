package io.github.shardkeeper;

import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.selection.BuiltInStrategy;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.SignalDelivery;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.IdempotentAppender.Batch;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public method refuses {@code null} with the name of the parameter, before it does
 * anything, unless the parameter is {@code @Nullable}: NullAway does not check the code
 * of applications.
 */
@Promise("Clear errors")
class NullArgumentsTests {

	/** Packages with types that applications create and call. */
	private static final List<String> PACKAGES = List.of("io.github.shardkeeper", "io.github.shardkeeper.shard",
			"io.github.shardkeeper.assignment", "io.github.shardkeeper.assignment.sticky",
			"io.github.shardkeeper.assignment.rules", "io.github.shardkeeper.assignment.load",
			"io.github.shardkeeper.assignment.selection", "io.github.shardkeeper.source",
			"io.github.shardkeeper.source.memory", "io.github.shardkeeper.cluster");

	/** Implemented by applications and called by Shardkeeper only. */
	private static final Set<String> IMPLEMENTED_BY_APPLICATIONS = Set.of("ShardSelector", "ShardCatalog",
			"FailureHandler", "ShardInterceptor", "ShardRecordFilter", "ShardSendInterceptor", "ShardAppender",
			"IdempotentAppender", "ShardTrimmer", "GroupPositions", "ShardReader", "ShardReader$RecordSink",
			"ShardReadControl", "StateMigration", "PollingShardReader$Fetcher", "ShardListPoller$Lister");

	/** Created by the auto-configuration only, and called through their interfaces. */
	private static final Set<String> INTERNAL = Set.of("KeyedShardTemplate", "PayloadConversionException");

	/**
	 * Values of parameters that have to pass a check before the one for {@code null}.
	 */
	private static final Map<String, Object> BY_NAME = Map.of("name", "sticky", "value", "one~1", "id", "0", "topic",
			"orders", "property", "shardkeeper.assignment.strategy", "text", "orders/0", "gain", 0.05);

	@ParameterizedTest
	@ValueSource(strings = { "memory", "redis" })
	void nullArgumentIsRefusedWithTheNameOfItsParameter(String store) throws Exception {
		String run = UUID.randomUUID().toString();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.run("--shardkeeper.store=" + store, "--shardkeeper.group=" + run, "--shardkeeper.key-prefix=" + run,
					"--shardkeeper.topics.orders.shards=2", "--shardkeeper.session.lease=1s",
					"--shardkeeper.session.heartbeat-interval=200ms", "--shardkeeper.session.timeout=10s",
					"--shardkeeper.consumer.commit.mode=manual", "--shardkeeper.groups.others.topics.others.shards=1",
					"--spring.data.redis.port=" + EmbeddedRedis.shared().port())) {
			Map<String, List<String>> problems = new TreeMap<>();
			Set<String> untried = new TreeSet<>();
			for (Class<?> type : publicTypes()) {
				List<Object> targets = targets(type, context);
				boolean needsTarget = calls(type).anyMatch((call) -> !isStatic(call) && hasParameters(call));
				if (targets.isEmpty() && needsTarget) {
					untried.add(type.getSimpleName());
				}
				calls(type).forEach((call) -> targetsOf(call, targets)
					.forEach((target) -> problems.computeIfAbsent(type.getSimpleName(), (t) -> new ArrayList<>())
						.addAll(problems(call, target))));
			}
			Handler handler = context.getBean(Handler.class);
			context.getBean(ShardTemplate.class).send("orders", "key", "hello");
			problems.put("in the handler", handler.problems.get(20, TimeUnit.SECONDS));
			problems.values().removeIf(List::isEmpty);

			assertThat(problems).as("begin with Objects.requireNonNull(name, \"name must not be null\")").isEmpty();
			untried.removeAll(Set.of("ShardState", "ShardOutput", "ShardTimers"));
			assertThat(untried).as("types that nothing was tried on").isEmpty();
		}
	}

	/** A list or map with a null element is refused too. */
	@Test
	void nullElementIsRefused() {
		Outgoing record = Outgoing.of("payload");
		for (Runnable call : List.<Runnable>of(() -> record.withHeader("name", nothing()),
				() -> Shards.of(Arrays.asList(nothing(), ShardId.of("orders", 0))),
				() -> StartPosition.parse(nothing()))) {
			assertThat(failure(call)).isInstanceOf(NullPointerException.class);
		}
	}

	@SuppressWarnings("NullAway")
	private static <T> T nothing() {
		return null;
	}

	private static @Nullable Throwable failure(Runnable call) {
		try {
			call.run();
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private static List<Class<?>> publicTypes() throws IOException {
		List<Class<?>> types = new ArrayList<>();
		PathMatchingResourcePatternResolver resolver = new PathMatchingResourcePatternResolver();
		String main = ShardId.class.getProtectionDomain().getCodeSource().getLocation().toString();
		for (String name : PACKAGES) {
			for (Resource resource : resolver
				.getResources("classpath*:" + ClassUtils.convertClassNameToResourcePath(name) + "/*.class")) {
				String simple = resource.getFilename();
				if (simple == null || simple.contains("package-info") || !resource.getURL().toString().contains(main)) {
					continue;
				}
				Class<?> type = ClassUtils.resolveClassName(name + "." + simple.substring(0, simple.length() - 6),
						null);
				String plain = type.getName().substring(name.length() + 1);
				if (isPublic(type) && !type.isAnnotation() && !Throwable.class.isAssignableFrom(type)
						&& !IMPLEMENTED_BY_APPLICATIONS.contains(plain) && !INTERNAL.contains(plain)) {
					types.add(type);
				}
			}
		}
		assertThat(types).hasSizeGreaterThan(40);
		return types;
	}

	private static boolean isPublic(Class<?> type) {
		return Modifier.isPublic(type.getModifiers())
				&& (type.getDeclaringClass() == null || isPublic(type.getDeclaringClass()));
	}

	/** Excludes {@code equals} and the methods that Java adds to enums. */
	private static Stream<Executable> calls(Class<?> type) {
		List<Executable> calls = new ArrayList<>();
		if (!Modifier.isAbstract(type.getModifiers()) && !type.isEnum()) {
			calls.addAll(List.of(type.getConstructors()));
		}
		for (Method method : type.getDeclaredMethods()) {
			boolean javas = method.getName().equals("equals") || method.getName().equals("compareTo")
					|| type.isEnum() && method.getName().equals("valueOf");
			if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic() && !javas) {
				calls.add(method);
			}
		}
		return calls.stream();
	}

	private static boolean hasParameters(Executable call) {
		return Stream.of(call.getParameters()).anyMatch(NullArgumentsTests::mayNotBeNull);
	}

	private static boolean mayNotBeNull(Parameter parameter) {
		return !parameter.getType().isPrimitive() && !parameter.getAnnotatedType().isAnnotationPresent(Nullable.class);
	}

	private static boolean isStatic(Executable call) {
		return call instanceof Constructor || Modifier.isStatic(call.getModifiers());
	}

	private static List<@Nullable Object> targetsOf(Executable call, List<Object> targets) {
		return isStatic(call) ? Arrays.asList((Object) null) : new ArrayList<>(targets);
	}

	/** Returns the beans of a type, or creates one if there are none. */
	private static List<Object> targets(Class<?> type, ConfigurableApplicationContext context) {
		List<Object> beans = new ArrayList<>(context.getBeansOfType(type).values());
		if (type == ShardTemplate.class) {
			beans.add(((ShardTemplate) beans.get(0)).with((topic, record, shards) -> 0));
		}
		if (type == AssignmentStrategy.class) {
			Arrays.stream(BuiltInStrategy.values()).map(BuiltInStrategy::strategy).forEach(beans::add);
		}
		if (type == ClusterLock.class) {
			beans.add(context.getBean(ClusterLocks.class).get("lock"));
		}
		if (type == DoubleBarrier.class) {
			beans.add(context.getBean(DoubleBarriers.class).get("barrier"));
		}
		if (type == SignalDelivery.class) {
			beans.add(context.getBean(ClusterSignals.class).send("signal", "payload"));
		}
		if (type == io.github.shardkeeper.cluster.Parameter.class) {
			beans.add(context.getBean(ClusterParameters.class).get("parameter", String.class, "value"));
		}
		if (type == ShardReader.class) {
			beans.add(context.getBean(ShardSource.class).openReader());
		}
		if (beans.isEmpty() && !type.isInterface()) {
			Object made = sample(type.getSimpleName(), type);
			if (made != null) {
				beans.add(made);
			}
		}
		return beans;
	}

	/** Returns the problems of the refusals of a method. */
	private static List<String> problems(Executable call, @Nullable Object target) {
		List<String> problems = new ArrayList<>();
		Parameter[] parameters = call.getParameters();
		for (int i = 0; i < parameters.length; i++) {
			if (mayNotBeNull(parameters[i])) {
				@Nullable Object[] arguments = Arrays.stream(parameters)
					.map((parameter) -> sample(parameter.getName(), parameter.getType()))
					.toArray();
				arguments[i] = null;
				Throwable thrown = invoke(call, target, arguments);
				boolean refused = thrown instanceof NullPointerException || thrown instanceof IllegalArgumentException;
				String message = (thrown != null) ? String.valueOf(thrown.getMessage()) : "";
				if (!refused || !message.startsWith(parameters[i].getName() + " must not be null")) {
					problems.add("\n%s(%s) of %s does not refuse null for '%s': %s".formatted(call.getName(),
							Arrays.stream(parameters).map((parameter) -> parameter.getType().getSimpleName()).toList(),
							(target != null) ? target.getClass().getSimpleName() : type(call), parameters[i].getName(),
							thrown));
				}
			}
		}
		return problems;
	}

	private static String type(Executable call) {
		return call.getDeclaringClass().getSimpleName();
	}

	private static @Nullable Throwable invoke(Executable call, @Nullable Object target, @Nullable Object[] arguments) {
		try {
			if (call instanceof Constructor<?> constructor) {
				constructor.newInstance(arguments);
			}
			else {
				call.setAccessible(true);
				((Method) call).invoke(target, arguments);
			}
			return null;
		}
		catch (InvocationTargetException ex) {
			return ex.getTargetException();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(call.toString(), ex);
		}
	}

	/** Returns a valid value for a parameter by its type and name. */
	private static @Nullable Object sample(String name, Class<?> type) {
		Map<Class<?>, Object> known = new LinkedHashMap<>();
		Shards shards = Shards.of(List.of(ShardId.of("orders", 0)));
		MemberId member = MemberId.of("one", "1");
		AssignmentRequest request = AssignmentRequest.builder(
				List.of(new Assignee(member, Set.of("orders"), io.github.shardkeeper.shard.ApplicationVersion.UNKNOWN)),
				shards)
			.build();
		known.put(int.class, 1);
		known.put(long.class, 1L);
		known.put(double.class, 0.1);
		known.put(boolean.class, true);
		known.put(Integer.class, 1);
		known.put(Long.class, 1L);
		known.put(String.class, "orders");
		known.put(byte[].class, new byte[0]);
		known.put(Instant.class, Instant.EPOCH);
		known.put(Duration.class, Duration.ofSeconds(1));
		known.put(List.class, List.of());
		known.put(Collection.class, List.of());
		known.put(Set.class, Set.of());
		known.put(Map.class, Map.of());
		known.put(Class.class, String.class);
		known.put(Type.class, String.class);
		known.put(Object.class, "payload");
		known.put(MemberId.class, member);
		known.put(Shards.class, shards);
		known.put(AssignmentRequest.class, request);
		known.put(AssignmentRequest.Builder.class, AssignmentRequest.builder(request.members(), shards));
		known.put(Assignment.class, Assignment.builder(request).give(ShardId.of("orders", 0), member).build());
		known.put(Assignment.Builder.class, Assignment.builder(request));
		known.put(ShardId.class, ShardId.of("orders", 0));
		known.put(StartPosition.class, StartPosition.EARLIEST);
		known.put(TopicShards.class, TopicShards.count(2));
		known.put(Batch.class, new Batch("producer", 1,
				List.of(new ShardAppender.NewRecord(ShardId.of("orders", 0), null, new byte[0]))));
		known.put(DeadLetterFilter.class, DeadLetterFilter.topic("orders"));
		known.put(FailureAction.class, FailureAction.halt());
		known.put(Predicate.class, (Predicate<Object>) (any) -> true);
		Object named = BY_NAME.get(name);
		if (named != null && ClassUtils.isAssignableValue(type, named)) {
			return named;
		}
		if (known.containsKey(type)) {
			return known.get(type);
		}
		if (type.isEnum()) {
			return type.getEnumConstants()[0];
		}
		if (type.isArray()) {
			return Array.newInstance(type.getComponentType(), 1);
		}
		if (type.isInterface()) {
			return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
					(proxy, method, args) -> null);
		}
		return made(type);
	}

	private static @Nullable Object made(Class<?> type) {
		for (Constructor<?> constructor : type.getConstructors()) {
			boolean canonical = !type.isRecord() || Arrays.equals(constructor.getParameterTypes(),
					Arrays.stream(type.getRecordComponents()).map(RecordComponent::getType).toArray(Class<?>[]::new));
			if (canonical) {
				@Nullable Object[] arguments = Arrays.stream(constructor.getParameters())
					.map((parameter) -> sample(parameter.getName(), parameter.getType()))
					.toArray();
				try {
					return constructor.newInstance(arguments);
				}
				catch (ReflectiveOperationException ex) {
					throw new IllegalStateException("Give " + type + " a sample of its own", ex);
				}
			}
		}
		return null;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		private final CompletableFuture<List<String>> problems = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload, ShardState state, ShardContext context, Acknowledgment acknowledgment,
				ShardOutput output, ShardTimers timers) {
			List<String> found = new ArrayList<>();
			calls(ShardState.class).forEach((call) -> found.addAll(NullArgumentsTests.problems(call, state)));
			calls(ShardOutput.class).forEach((call) -> found.addAll(NullArgumentsTests.problems(call, output)));
			calls(ShardTimers.class).forEach((call) -> found.addAll(NullArgumentsTests.problems(call, timers)));
			this.problems.complete(found);
			acknowledgment.acknowledge();
		}

		@OnShardTimer
		void due(ShardTimer timer) {
		}

	}

}
