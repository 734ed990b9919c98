package io.github.shardkeeper.autoconfigure.cluster;

import java.security.Principal;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import jakarta.validation.Valid;
import jakarta.validation.Validator;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.Mockito;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationFilter;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.invoke.convert.ConversionServiceParameterValueMapper;
import org.springframework.boot.actuate.endpoint.web.EndpointMediaTypes;
import org.springframework.boot.actuate.endpoint.web.ExposableWebEndpoint;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpointDiscoverer;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ClusterParametersEndpoint;
import io.github.shardkeeper.actuate.ClusterParametersEndpoint.Details;
import io.github.shardkeeper.actuate.ClusterParametersEndpoint.Parameters;
import io.github.shardkeeper.actuate.ClusterParametersEndpoint.Version;
import io.github.shardkeeper.actuate.ClusterParametersWebExtension.Conflict;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.ClusterParameters.State;
import io.github.shardkeeper.cluster.ClusterParameters.Update;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.Parameter.Source;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.Mockito.mock;

/** Parameters in applications: fields, configuration, validation, endpoint, Redis. */
@Timeout(300)
class ClusterParametersTests {

	private static final String[] FAST = { "shardkeeper.session.lease=3s",
			"shardkeeper.session.heartbeat-interval=100ms", "shardkeeper.session.timeout=15s" };

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class,
						JacksonAutoConfiguration.class, ValidationAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=pages", "shardkeeper.store=memory",
				"management.endpoints.web.exposure.include=*");

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(10));
	}

	@Test
	void fieldHasItsValueBeforeTheBeanIsInitialized() {
		this.memory.withBean(Indexer.class)
			.withPropertyValues("shardkeeper.parameters.index.batch-size=200", "shardkeeper.parameters.nobody=x")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Indexer indexer = context.getBean(Indexer.class);
				assertThat(indexer.atInitialization).isEqualTo(200);
				assertThat(indexer.pause).isEqualTo(Duration.ofSeconds(5));

				context.getBean(ClusterParameters.class).set("index.pause", "200ms", Update.ALWAYS);
				assertThat(indexer.pause).isEqualTo(Duration.ofMillis(200));
			});
	}

	@Test
	void constraintsOfTheFieldAndInsideTheValueAreChecked() {
		this.memory.withBean(Indexer.class).run((context) -> {
			ClusterParameters parameters = context.getBean(ClusterParameters.class);
			Indexer indexer = context.getBean(Indexer.class);

			assertThatIllegalArgumentException()
				.isThrownBy(() -> parameters.set("index.batch-size", "10001", Update.ALWAYS))
				.withMessage(
						"The value '10001' of the parameter 'index.batch-size' is not valid: it must be less than or "
								+ "equal to 10000 (@Max)");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> parameters.set("index.target", "{\"name\":\" \",\"copies\":0}", Update.ALWAYS))
				.withMessageContaining(
						"copies must be greater than or equal to 1 (@Min), name must not be blank (@NotBlank)");
			assertThatIllegalArgumentException()
				.isThrownBy(
						() -> parameters.get("index.target2", Target.class, new Target("a", 1)).set(new Target("", 1)))
				.withMessageContaining("name must not be blank");
			assertThat(indexer.batchSize).isEqualTo(500);
			assertThat(indexer.target).isEqualTo(new Target("main", 2));
			parameters.set("index.target", "{\"name\":\"b\",\"copies\":3}", Update.ALWAYS);
			assertThat(indexer.target).isEqualTo(new Target("b", 3));
		});
	}

	/** None of them would be asked. */
	@Test
	void severalValidatorsWithoutAPrimaryOneFailStartup() {
		this.memory.withBean(Indexer.class)
			.withBean("one", Validator.class, () -> mock(Validator.class))
			.withBean("two", Validator.class, () -> mock(Validator.class))
			.run((context) -> assertThat(context.getStartupFailure())
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class)
				.hasStackTraceContaining("one,two"));
	}

	@Test
	void invalidConfigurationFailsStartupWithTheProperty() {
		for (Map.Entry<String, String> wrong : Map
			.of("shardkeeper.parameters.index.batch-size=many", "'shardkeeper.parameters.index.batch-size' is 'many'",
					"shardkeeper.parameters.index.batch-size=0", "it must be greater than or equal to 1 (@Min)",
					"shardkeeper.parameters.[a b]=0", "The name 'a b' of a parameter in 'shardkeeper.parameters'",
					"shardkeeper.parameters.index.target[0]=a", "'shardkeeper.parameters.index.target' is a list",
					"shardkeeper.parameters.[{a}]=0", "The name '{a}'")
			.entrySet()) {
			this.memory.withBean(Indexer.class)
				.withPropertyValues(wrong.getKey())
				.run((context) -> assertThat(context.getStartupFailure()).as(wrong.getKey())
					.hasStackTraceContaining(wrong.getValue()));
		}
	}

	/** No tool, and so no member of a group without topics. */
	@Test
	void applicationWithoutParametersHasNone() {
		this.memory.run((context) -> {
			assertThat(context.getBeanFactory().containsSingleton("shardkeeperClusterParameters")).isFalse();
			assertThat(context.getBean(ClusterParametersEndpoint.class).parameters().parameters()).isEmpty();
			assertThat(context.getBean(ClusterParametersEndpoint.class).parameter("a")).isNull();
			assertThat(context.getBeanFactory().containsSingleton("shardkeeperClusterParameters")).isFalse();
			assertThat(context.getBean(ShardCoordinator.class).isRunning()).isFalse();
		});
	}

	/** The session needs this bean, which needs a parameter. */
	@Test
	void beanThatTheCoordinatorNeedsMayHaveParameters() {
		this.memory.withBean("tuned", AssignmentStrategy.class, Tuned::new)
			.withPropertyValues("shardkeeper.parameters.reserve=3")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Tuned tuned = (Tuned) context.getBean("tuned");
				assertThat(tuned.reserve).isEqualTo(3);
				await().until(() -> context.getBean(ShardCoordinator.class).member().isPresent());
				context.getBean(ClusterParameters.class).set("reserve", "5", Update.ALWAYS);
				assertThat(tuned.reserve).isEqualTo(5);
			});
	}

	@Test
	void testDoubleReplacesTheParameters() {
		this.memory.withBean(Indexer.class)
			.withBean(ClusterParameters.class, () -> Mockito.mock(ClusterParameters.class))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Indexer.class).batchSize).isEqualTo(500);
			});
	}

	@Test
	void endpointReadsAlwaysAndWritesOnlyWithAccess() {
		this.memory.withBean(Indexer.class).run((context) -> {
			ExposableWebEndpoint endpoint = endpoint(context, List.of());

			assertThat(endpoint.getDefaultAccess()).isEqualTo(Access.READ_ONLY);
			assertThat(endpoint(context, List.of(OperationFilter.byAccess((id, access) -> access))).getOperations())
				.extracting(WebOperation::getType)
				.containsExactly(OperationType.READ, OperationType.READ);
			assertThat(endpoint.getOperations()).extracting(WebOperation::getType)
				.containsExactlyInAnyOrder(OperationType.READ, OperationType.READ, OperationType.WRITE,
						OperationType.DELETE);
		});
	}

	@Test
	void endpointChangesAndShowsParameters() {
		this.memory.withBean(Indexer.class).withPropertyValues("shardkeeper.instance-id=host-1").run((context) -> {
			String name = "index.batch-size";
			Version first = version(invoke(context, OperationType.WRITE, "ann", Map.of("name", name, "value", "100")));
			Version second = version(invoke(context, OperationType.WRITE, null,
					Map.of("name", name, "value", "200", "expectedVersion", String.valueOf(first.version()))));
			assertThat(context.getBean(Indexer.class).batchSize).isEqualTo(200);

			Details details = (Details) body(invoke(context, OperationType.READ, null, Map.of("name", name)));
			assertThat(details.parameter()).satisfies((state) -> {
				assertThat(state.value()).isEqualTo("200");
				assertThat(state.defaultValue()).isEqualTo("500");
				assertThat(state.version()).isEqualTo(second.version());
				assertThat(state.author()).isEqualTo("host-1");
				assertThat(state.time()).isNotNull();
				assertThat(state.source()).isEqualTo(Source.STORE);
			});
			assertThat(details.history()).extracting(Change::author).containsExactly("host-1", "ann");
			invoke(context, OperationType.WRITE, "ann", Map.of("name", name, "revertTo", "" + first.version()));
			assertThat(context.getBean(Indexer.class).batchSize).isEqualTo(100);
			invoke(context, OperationType.DELETE, "ann", Map.of("name", name));
			assertThat(context.getBean(Indexer.class).batchSize).isEqualTo(500);
			assertThat(((Parameters) invoke(context, OperationType.READ, null, Map.of())).parameters())
				.extracting(State::name)
				.containsExactly(name, "index.pause", "index.target");
		});
	}

	@Test
	void endpointAnswersConflictForAnotherVersion() {
		this.memory.withBean(Indexer.class).run((context) -> {
			String name = "index.batch-size";
			ClusterParameters parameters = context.getBean(ClusterParameters.class);
			long first = parameters.set(name, "100", Update.ALWAYS);
			long second = parameters.set(name, "200", Update.ALWAYS);
			String expected = String.valueOf(first);

			for (Object reply : Arrays.asList(
					invoke(context, OperationType.WRITE, "ann",
							Map.of("name", name, "value", "1", "expectedVersion", expected)),
					invoke(context, OperationType.WRITE, "ann",
							Map.of("name", name, "revertTo", expected, "expectedVersion", expected)),
					invoke(context, OperationType.DELETE, "ann", Map.of("name", name, "expectedVersion", expected)))) {
				WebEndpointResponse<?> response = (WebEndpointResponse<?>) reply;
				assertThat(response.getStatus()).isEqualTo(409);
				assertThat(response.getBody())
					.isEqualTo(new Conflict("The parameter 'index.batch-size' has version " + second + ", not " + first
							+ ": somebody else has changed it. Look at its value and try again", second));
			}
			assertThat(context.getBean(Indexer.class).batchSize).isEqualTo(200);
		});
	}

	private static Version version(@Nullable Object reply) {
		return (Version) body(reply);
	}

	private static Object body(@Nullable Object reply) {
		WebEndpointResponse<?> response = (WebEndpointResponse<?>) reply;
		assertThat(response.getStatus()).isEqualTo(200);
		return response.getBody();
	}

	private static ExposableWebEndpoint endpoint(ApplicationContext context,
			List<OperationFilter<WebOperation>> filters) {
		return new WebEndpointDiscoverer(context, new ConversionServiceParameterValueMapper(),
				EndpointMediaTypes.DEFAULT, List.of(), List.of(), List.of(), List.of(), filters)
			.getEndpoints()
			.stream()
			.filter((endpoint) -> endpoint.getEndpointId().toString().equals("clusterparameters"))
			.findFirst()
			.orElseThrow();
	}

	private static @Nullable Object invoke(ApplicationContext context, OperationType type, @Nullable String user,
			Map<String, Object> arguments) {
		WebOperation operation = endpoint(context, List.of()).getOperations()
			.stream()
			.filter((candidate) -> candidate.getType() == type && (type != OperationType.READ
					|| candidate.getRequestPredicate().getPath().contains("{name}") == arguments.containsKey("name")))
			.findFirst()
			.orElseThrow();
		SecurityContext security = new SecurityContext() {

			@Override
			public @Nullable Principal getPrincipal() {
				return (user != null) ? () -> user : null;
			}

			@Override
			public boolean isUserInRole(String role) {
				return false;
			}

		};
		return operation.invoke(new InvocationContext(security, new HashMap<>(arguments)));
	}

	@Test
	void changeReachesOtherInstancesOnRedisWithinASecond() throws Exception {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(FAST)) {
			ConfigurableApplicationContext one = group.start(Application.class, "one");
			ConfigurableApplicationContext two = group.start(Application.class, "two");
			await().until(() -> isMember(one) && isMember(two));
			Indexer there = two.getBean(Indexer.class);
			BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
			two.getBean(ClusterParameters.class).get("index.batch-size", int.class, 500).onChange(heard::add);
			assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(500);

			List<Integer> received = new CopyOnWriteArrayList<>();
			for (int value = 100; value < 110; value++) {
				long begin = System.nanoTime();
				set(one, "index.batch-size", String.valueOf(value));
				assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(value);
				received.add((int) Duration.ofNanos(System.nanoTime() - begin).toMillis());
				assertThat(there.batchSize).isEqualTo(value);
			}

			System.out.println("Milliseconds from set to the listener of the other instance: " + received);
			// The machine may be busy for a moment.
			assertThat(received.stream().sorted().limit(5)).allMatch((millis) -> millis < 1000);
			ConfigurableApplicationContext three = group.start(Application.class, "three",
					"shardkeeper.parameters.index.batch-size=7");
			assertThat(three.getBean(Indexer.class).atInitialization).isEqualTo(109);
			assertThat(three.getBean(ClusterParameters.class).history("index.batch-size"))
				.hasSizeGreaterThanOrEqualTo(10)
				.allMatch((change) -> change.author().equals("one"));
			persist(() -> three.getBean(ClusterParameters.class).reset("index.batch-size", Update.ALWAYS));
			assertThat(three.getBean(Indexer.class).batchSize).isEqualTo(7);
			await().until(() -> there.batchSize == 500);
		}
	}

	private static void set(ConfigurableApplicationContext instance, String name, String value) {
		persist(() -> instance.getBean(ClusterParameters.class).set(name, value, Update.ALWAYS));
	}

	/** On a busy machine, Redis may not reply in time. */
	private static void persist(Runnable change) {
		await().ignoreExceptionsInstanceOf(StoreUnavailableException.class).until(() -> {
			change.run();
			return true;
		});
	}

	private static boolean isMember(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardCoordinator.class).member().isPresent();
	}

	/** A person has set it with redis-cli. */
	@Test
	@Tag("proof")
	void entryWrittenByHandIntoRedisIsReported() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(FAST)) {
			ConfigurableApplicationContext one = group.start(Application.class, "one");
			await().until(() -> isMember(one));
			ClusterParameters parameters = one.getBean(ClusterParameters.class);
			set(one, "index.batch-size", "100");
			String key = group.name() + ":{" + group.name() + "}:parameters";
			one.getBean(StringRedisTemplate.class).opsForHash().put(key, "index.batch-size", "200");

			set(one, "index.pause", "1s");

			await().until(() -> parameters.state("index.batch-size").orElseThrow().problem() != null);
			assertThat(parameters.state("index.batch-size").orElseThrow()).satisfies((state) -> {
				assertThat(state.problem()).contains(key, "'200'", "HDEL");
				assertThat(state.value()).isEqualTo("100");
				assertThat(state.source()).isEqualTo(Source.LAST_KNOWN);
			});
			assertThat(one.getBean(Indexer.class).batchSize).isEqualTo(100);
			set(one, "index.batch-size", "200");
			assertThat(parameters.state("index.batch-size").orElseThrow().problem()).isNull();
		}
	}

	@Test
	@Tag("proof")
	void startsWithoutRedisAndFollowsItLater() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); EmbeddedGroup group = EmbeddedGroup.onRedis(redis, FAST)) {
			ConfigurableApplicationContext one = group.start(Application.class, "one");
			set(one, "index.batch-size", "100");
			redis.stop();

			ConfigurableApplicationContext two = group.start(Application.class, "two");

			Parameter<Integer> there = two.getBean(ClusterParameters.class).get("index.batch-size", int.class, 500);
			Parameter<Integer> here = one.getBean(ClusterParameters.class).get("index.batch-size", int.class, 500);
			assertThat(two.getBean(Indexer.class).batchSize).isEqualTo(500);
			assertThat(there.source()).isEqualTo(Source.DEFAULT);
			await().until(() -> here.source() == Source.LAST_KNOWN);
			assertThat(here.get()).isEqualTo(100);
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> there.set(300));
			redis.restart();
			await().until(() -> isMember(one) && isMember(two));
			set(one, "index.batch-size", "200");

			await().until(() -> there.get() == 200 && there.source() == Source.STORE);
			assertThat(two.getBean(Indexer.class).batchSize).isEqualTo(200);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		Indexer indexer() {
			return new Indexer();
		}

	}

	static class Indexer implements InitializingBean {

		@ClusterParameter("index.batch-size")
		@Min(1)
		@Max(10_000)
		volatile int batchSize = 500;

		@ClusterParameter("index.pause")
		volatile Duration pause = Duration.ofSeconds(5);

		@ClusterParameter("index.target")
		@Valid
		volatile Target target = new Target("main", 2);

		volatile int atInitialization;

		@Override
		public void afterPropertiesSet() {
			this.atInitialization = this.batchSize;
		}

	}

	record Target(@NotBlank String name, @Min(1) int copies) {

	}

	static class Tuned implements AssignmentStrategy {

		private final AssignmentStrategy strategy = new StickyAssignment();

		@ClusterParameter("reserve")
		volatile int reserve = 1;

		@Override
		public Assignment assign(AssignmentRequest request) {
			return this.strategy.assign(request);
		}

	}

}
