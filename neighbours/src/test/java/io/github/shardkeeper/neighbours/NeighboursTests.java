package io.github.shardkeeper.neighbours;

import java.time.Clock;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.ObjectMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.cloud.stream.binder.test.InputDestination;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.convert.ConversionService;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.util.ClassUtils;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.BeanTypes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The starter is a guest: for everything else in an application it is as if it were not
 * there.
 */
class NeighboursTests {

	private static final String PACKAGE = "io.github.shardkeeper.";

	/** Types that are asked for whether or not the application has a bean of them. */
	private static final List<Class<?>> COMMON = List.of(Executor.class, ExecutorService.class,
			ScheduledExecutorService.class, TaskScheduler.class, ThreadFactory.class, Runnable.class, Callable.class,
			Supplier.class, Function.class, BiFunction.class, Consumer.class, BiConsumer.class, Predicate.class,
			Clock.class, ObjectMapper.class, ConversionService.class, Iterable.class, Map.class, String.class);

	private static ConfigurableApplicationContext with;

	private static ConfigurableApplicationContext without;

	@BeforeAll
	static void start() {
		with = start(true);
		without = start(false);
	}

	private static ConfigurableApplicationContext start(boolean starter) {
		return new SpringApplicationBuilder(Application.class).registerShutdownHook(false)
			.properties("spring.main.banner-mode=off", "server.port=0", "spring.jpa.open-in-view=false",
					"spring.data.redis.repositories.enabled=false",
					"spring.datasource.url=jdbc:h2:mem:neighbours-" + starter,
					"management.endpoints.web.exposure.include=*",
					"spring.data.redis.port=" + EmbeddedRedis.shared().port(), "shardkeeper.group=orders",
					"shardkeeper.topics.orders.shards=1", "shardkeeper.redis.trust-empty=true",
					"shardkeeper.key-prefix=neighbours-" + UUID.randomUUID(),
					"spring.autoconfigure.exclude=" + (starter ? "" : String.join(",", autoConfigurations())))
			.run();
	}

	private static List<String> autoConfigurations() {
		List<String> all = ImportCandidates.load(AutoConfiguration.class, null).getCandidates();
		return all.stream().filter((name) -> name.startsWith(PACKAGE)).toList();
	}

	@AfterAll
	static void close() {
		with.close();
		without.close();
	}

	@Test
	void onlyOurBeansAreAdded() {
		Set<String> others = stable(with.getBeanDefinitionNames());
		others.removeAll(BeanTypes.ours(with.getBeanFactory()).keySet());

		assertThat(others).containsExactlyElementsOf(stable(without.getBeanDefinitionNames()));
		assertThat(BeanTypes.ours(without.getBeanFactory())).isEmpty();
		assertThat(BeanTypes.ours(with.getBeanFactory())).hasSizeGreaterThan(60);
	}

	/** Of each type that any bean has, and of those that are often asked for. */
	@Test
	void everyTypeFindsTheSameBeans() {
		Set<Class<?>> types = types();
		assertThat(types).hasSizeGreaterThan(500);

		Map<String, String> different = new TreeMap<>();
		for (Class<?> type : types) {
			String found = found(with, type);
			String before = found(without, type);
			if (!found.equals(before)) {
				different.put(type.getName(), before + " are now " + found);
			}
		}
		assertThat(different).isEmpty();
	}

	private static Set<Class<?>> types() {
		Set<Class<?>> types = new LinkedHashSet<>(COMMON);
		for (ConfigurableApplicationContext context : List.of(with, without)) {
			for (String name : context.getBeanDefinitionNames()) {
				Class<?> type = context.getType(name);
				if (type != null) {
					types.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
				}
				for (Class<?> each = type; each != null; each = each.getSuperclass()) {
					types.add(each);
				}
			}
		}
		types.removeIf((type) -> type.getName().startsWith(PACKAGE));
		return types;
	}

	/** Ours are left out where any number of beans may be. */
	private static String found(ConfigurableApplicationContext context, Class<?> type) {
		Set<String> found = stable(context.getBeanNamesForType(type));
		if (BeanTypes.isAllowed(type)) {
			found.removeIf(
					(name) -> context.containsBeanDefinition(name) && BeanTypes.isOurs(context.getBeanFactory(), name));
		}
		return String.join(", ", found);
	}

	/** Spring Cloud Stream begins names with the number of its binder. */
	private static Set<String> stable(String[] names) {
		return Arrays.stream(names)
			.map((name) -> name.replaceFirst("^\\d+\\.", ""))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	@Test
	void onlyFunctionOfTheApplicationIsBoundByStream() throws Exception {
		with.getBean(InputDestination.class).send(new GenericMessage<>("signed in".getBytes()), "audit-in-0");

		assertThat(with.getBean(Application.Events.class).audited.poll(20, TimeUnit.SECONDS)).isEqualTo("signed in");
	}

	@Test
	void asynchronousAndScheduledMethodsRunOnTheSameThreads() throws Exception {
		assertThat(asynchronousThread(with)).isEqualTo(asynchronousThread(without));
		assertThat(schedulingThread(with)).isEqualTo(schedulingThread(without));
	}

	private static String asynchronousThread(ConfigurableApplicationContext context) throws Exception {
		return withoutNumber(context.getBean(Application.Jobs.class).threadName().get(20, TimeUnit.SECONDS));
	}

	private static String schedulingThread(ConfigurableApplicationContext context) throws Exception {
		return withoutNumber(context.getBean(Application.Events.class).schedulingThread.get(20, TimeUnit.SECONDS));
	}

	private static String withoutNumber(String thread) {
		return thread.replaceAll("\\d+$", "");
	}

	@Test
	void handlersAreCalled() throws Exception {
		with.getBean(ShardTemplate.class).send("orders", "ann", "hello");

		assertThat(with.getBean(Application.Events.class).handled.poll(20, TimeUnit.SECONDS)).isEqualTo("hello");
	}

}
