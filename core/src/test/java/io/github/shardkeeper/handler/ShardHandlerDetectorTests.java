package io.github.shardkeeper.handler;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.util.AopTestUtils;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.HandlerOfAnotherPackage;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

@CapturesOutput
class ShardHandlerDetectorTests {

	private static final Map<String, Integer> TOPICS = Map.of("orders", 4, "visits", 4);

	private final MockEnvironment environment = new MockEnvironment();

	@Test
	void applicationWithoutHandlersHasNone() {
		assertThat(detect(Object.class)).isEmpty();
	}

	@Test
	void beanMayHaveHandlersOfSeveralTopics() throws Throwable {
		Map<String, ShardHandler> handlers = detect(Two.class);

		assertThat(handlers).containsOnlyKeys("orders", "visits");
		assertThat(handlers.get("orders").topic()).isEqualTo("orders");
		assertThat(handlers.get("orders").name()).isEqualTo("Two.order(String)");
	}

	@Test
	void beanAndItsCallbacksAreCalled() throws Throwable {
		try (GenericApplicationContext context = context(Two.class)) {
			ShardHandler handler = detect(context, TOPICS).get("orders");
			ShardContext shard = mock(ShardContext.class);
			ShardState state = mock(ShardState.class);
			given(shard.shard()).willReturn(ShardId.of("orders", 0));
			SourceRecord source = new SourceRecord(new Offset("1"), "k", "hello".getBytes(), Instant.EPOCH);
			handler.assigned(shard, state);
			Object converted = handler.convert(shard, source, 1);
			handler.handle(converted, new CallArguments(shard, state, null));
			handler.revoked(shard, state);

			assertThat(context.getBean(Two.class).calls).containsExactly("assigned", "order hello", "revoked");
			assertThat(converted).isEqualTo("hello");
		}
	}

	@Test
	void exceptionOfTheHandlerIsRethrown() {
		try (GenericApplicationContext context = context(Failing.class)) {
			ShardHandler handler = detect(context, TOPICS).get("orders");

			assertThatExceptionOfType(IOException.class).isThrownBy(() -> handler.handle(null,
					new CallArguments(mock(ShardContext.class), mock(ShardState.class), null)));
		}
	}

	@Test
	void batchIsConvertedByRecordAndHandledAsAList() throws Throwable {
		try (GenericApplicationContext context = context(Batches.class)) {
			Map<String, ShardHandler> handlers = detect(context, TOPICS);
			ShardContext shard = mock(ShardContext.class);
			given(shard.shard()).willReturn(ShardId.of("orders", 0));
			ShardState state = mock(ShardState.class);
			List<String> acknowledged = new ArrayList<>();
			SourceRecord source = new SourceRecord(new Offset("1"), "k", "7".getBytes(), Instant.EPOCH);

			ShardHandler payloads = handlers.get("orders");
			assertThat(payloads.shape()).isEqualTo(HandlerShape.BATCH);
			assertThat(payloads.takesAcknowledgment()).isFalse();
			assertThat(payloads.takesState()).isTrue();
			payloads.handle(List.of(payloads.convert(shard, source, 1), payloads.convert(shard, source, 1)),
					new CallArguments(shard, state, null));
			ShardHandler records = handlers.get("visits");
			assertThat(records.takesAcknowledgment()).isTrue();
			assertThat(records.takesState()).isFalse();
			records.handle(List.of(records.convert(shard, source, 1)),
					new CallArguments(shard, state, () -> acknowledged.add("yes")));

			assertThat(context.getBean(Batches.class).calls).containsExactly(List.of(7, 7),
					List.of(new ShardRecord<>(ShardId.of("orders", 0), new Offset("1"), "k", 7, Instant.EPOCH)));
			assertThat(acknowledged).containsExactly("yes");
		}
	}

	@Test
	void methodWithoutRecordsIsCalledRepeatedly() throws Throwable {
		this.environment.setProperty("my.interval", "2m");
		try (GenericApplicationContext context = context(Looping.class)) {
			Map<String, ShardHandler> handlers = detect(context, TOPICS);
			ShardHandler handler = handlers.get("orders");
			assertThat(handler.shape()).isEqualTo(HandlerShape.LOOP);
			assertThat(handler.interval()).isEqualTo(Duration.ofMinutes(2));
			handler.handle(null, new CallArguments(mock(ShardContext.class), mock(ShardState.class), null));
			assertThat(context.getBean(Looping.class).calls).containsExactly("loop");
			SourceRecord source = new SourceRecord(new Offset("1"), null, "{".getBytes(), Instant.EPOCH);
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> handler.convert(mock(ShardContext.class), source, 1))
				.withMessageContaining("Looping.loop() takes no records");
		}
	}

	@ParameterizedTest
	@CsvSource({ "10s, PT10S", "500ms, PT0.5S", "250, PT0.25S", "PT1H, PT1H", "0s, PT0S" })
	void intervalIsADuration(String written, Duration meant) {
		this.environment.setProperty("my.interval", written);

		assertThat(detect(Looping.class).get("orders").interval()).isEqualTo(meant);
	}

	@ParameterizedTest
	@ValueSource(strings = { "-1s", "often", "10 parsecs", "-PT1S", "99999999999999999999d" })
	void invalidIntervalIsRejected(String written) {
		this.environment.setProperty("my.interval", written);

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(Looping.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("Looping.loop()", "'" + written + "'");
				assertThat(ex.getAction()).contains("'10s'");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { Forgetful.class, WithEmptyInterval.class })
	@Promise("Clear errors")
	void handlerWithoutRecordsRequiresAnInterval(Class<?> type) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(type))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(type.getSimpleName() + ".handle(ShardContext, ShardState)",
						"takes no record", "never be read");
				assertThat(ex.getAction()).contains("Add a parameter for the record", "interval = \"10s\"");
			});
	}

	@ParameterizedTest
	@CsvSource({ "WithPlaceholder, my.topic, topic", "Looping, my.interval, interval" })
	void missingPropertyIsNamed(String bean, String property, String attribute) {
		try (GenericApplicationContext context = context(
				bean.equals("Looping") ? Looping.class : WithPlaceholder.class)) {
			context.getBeanFactory().addEmbeddedValueResolver(this.environment::resolveRequiredPlaceholders);

			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context, TOPICS))
				.satisfies((ex) -> {
					assertThat(ex.getDescription()).contains("The " + attribute, "@ShardConsumer method " + bean,
							"'${" + property + "}'");
					assertThat(ex.getAction()).contains("Set the property", "write the " + attribute + " itself");
				});
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { AsyncHandler.class, AsyncBean.class, AsyncCallback.class, MetaAsyncHandler.class,
			AsyncMonoHandler.class })
	@Promise("Clear errors")
	void asyncMethodIsRejected(Class<?> type) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(type))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains(" method " + type.getSimpleName() + ".", "is asynchronous");
				assertThat(ex.getAction()).contains("Remove @Async", "shardkeeper.consumer.ordering");
			});
	}

	@Test
	void asyncMethodThatReturnsAFutureIsAHandler() {
		assertThat(detect(AsyncFutureHandler.class)).containsOnlyKeys("orders");
	}

	/** Only the proxy knows the annotation. */
	@Test
	void customAsyncAnnotationIsRejected() {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean(AsyncAnnotationBeanPostProcessor.class, () -> {
			AsyncAnnotationBeanPostProcessor processor = new AsyncAnnotationBeanPostProcessor();
			processor.setAsyncAnnotationType(Later.class);
			processor.setProxyTargetClass(true);
			return processor;
		});
		context.registerBean(LaterHandler.class);
		context.refresh();
		try (context) {
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context, TOPICS))
				.withMessageContaining("LaterHandler.handle(String) is asynchronous");
		}
	}

	@Test
	@Promise("Clear errors")
	void methodHiddenByItsProxyIsRejected() {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean("interceptor", MethodInterceptor.class, () -> MethodInvocation::proceed);
		context.registerBean(BeanNameAutoProxyCreator.class, () -> {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("handler");
			creator.setInterceptorNames("interceptor");
			return creator;
		});
		context.registerBean("handler", Hidden.class);
		context.refresh();
		try (context) {
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context, TOPICS))
				.satisfies((ex) -> {
					assertThat(ex.getDescription()).contains("Hidden.consume(String) cannot be called", "proxy");
					assertThat(ex.getAction()).contains("spring.aop.proxy-target-class: true");
				});
		}
	}

	@Test
	void intervalOfAHandlerOfRecordsIsRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(Impatient.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("Impatient.handle(String)", "'10s'", "takes records");
				assertThat(ex.getAction()).contains("Remove the interval");
			});
	}

	@Test
	void classProxiesAreCalled() throws Throwable {
		assertProxied(true);
	}

	@Test
	void interfaceProxiesAreCalled() throws Throwable {
		assertProxied(false);
	}

	private void assertProxied(boolean ofClass) throws Throwable {
		List<String> intercepted = new ArrayList<>();
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean("interceptor", MethodInterceptor.class, () -> (invocation) -> {
			intercepted.add(invocation.getMethod().getName());
			return invocation.proceed();
		});
		context.registerBean(BeanNameAutoProxyCreator.class, () -> {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("handler");
			creator.setInterceptorNames("interceptor");
			creator.setProxyTargetClass(ofClass);
			return creator;
		});
		context.registerBean("handler", OfInterface.class);
		context.refresh();
		try (context) {
			assertThat(AopUtils.isCglibProxy(context.getBean("handler"))).isEqualTo(ofClass);
			assertThat(AopUtils.isJdkDynamicProxy(context.getBean("handler"))).isEqualTo(!ofClass);
			ShardHandler handler = detect(context, TOPICS).get("orders");
			handler.handle(null, new CallArguments(mock(ShardContext.class), mock(ShardState.class), null));
			assertThat(intercepted).containsExactly("handle");
		}
	}

	@Test
	void placeholdersInTheTopicAreResolved() {
		this.environment.setProperty("my.topic", "orders");

		assertThat(detect(WithPlaceholder.class)).containsOnlyKeys("orders");
	}

	@Test
	void unresolvablePlaceholderIsNamed() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(WithPlaceholder.class))
			.withMessageContaining("${my.topic}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{orders}", "my orders", "orders\n", "orders\u0001", "" })
	void invalidTopicNameIsRejected(String topic) {
		this.environment.setProperty("my.topic", topic);

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(WithPlaceholder.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("@ShardConsumer on WithPlaceholder.handle(String)")
					.doesNotContain("\n", "\u0001");
				assertThat(ex.getAction()).isEqualTo(Names.RULE);
			});
	}

	@Test
	void unknownTopicIsRejected() {
		this.environment.setProperty("my.topic", "order");

		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(WithPlaceholder.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("WithPlaceholder.handle(String)", "'order'", "orders",
						"visits");
				assertThat(ex.getAction()).contains("shardkeeper.topics.[order].shards");
			});
	}

	@ParameterizedTest
	@ValueSource(classes = { SeveralTopics.class, Repeating.class, Composed.class, ComposedAndOwn.class })
	void methodMayBeTheHandlerOfSeveralTopics(Class<?> type) {
		this.environment.setProperty("second", "visits");

		assertThat(detect(type)).containsOnlyKeys("orders", "visits")
			.allSatisfy((topic, handler) -> assertThat(handler.topic()).isEqualTo(topic))
			.extractingFromEntries((entry) -> entry.getValue().name())
			.containsOnly(type.getSimpleName() + ".handle(String)");
	}

	@Test
	void topicsOfOneMethodMayDifferInTheirIntervals() {
		Map<String, ShardHandler> handlers = detect(Intervals.class);

		assertThat(handlers.get("orders").interval()).hasSeconds(1);
		assertThat(handlers.get("visits").interval()).hasSeconds(2);
	}

	@Test
	void methodOfAGenericSuperclassHasThePayloadOfTheSubclass() {
		ShardContext shard = mock(ShardContext.class);
		given(shard.shard()).willReturn(ShardId.of("orders", 0));

		assertThat(detect(OfNumbers.class).get("orders")
			.convert(shard, new SourceRecord(new Offset("1"), "k", "7".getBytes(), Instant.EPOCH), 1)).isEqualTo(7);
	}

	@Test
	void annotationOfTheOverridingMethodCounts() {
		assertThat(detect(Overriding.class)).containsOnlyKeys("visits");
	}

	@Test
	void annotationWithoutTopicIsRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(NoTopic.class))
			.withMessageContaining("NoTopic.handle(String) names no topic");
	}

	@Test
	void twoHandlersOfOneTopicAreRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(Two.class, Failing.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("'orders'", "Two.order(String)", "Failing.fail()");
				assertThat(ex.getAction()).contains("Keep one of them");
			});
	}

	@Test
	void twoHandlersOfOneTopicInOneBeanAreRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(SameTopic.class))
			.withMessageContaining("SameTopic.one()")
			.withMessageContaining("SameTopic.other()");
	}

	@Test
	void callbacksWithoutHandlerAreRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(OnlyCallback.class))
			.withMessageContaining("no @ShardConsumer method")
			.withMessageContaining("Move the method");
	}

	@Test
	void callbackWithUnsupportedParametersIsRejected() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(WrongCallback.class))
			.withMessageContaining("@OnShardAssigned method WrongCallback.assigned(String)");
	}

	@ParameterizedTest
	@ValueSource(classes = { BeanAfterRecord.class, BeanBeforeRecord.class, OnlyBean.class, OnlyComponent.class })
	void beanAsParameterIsRejected(Class<?> type) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(type, Prices.class, Store.class))
			.satisfies((ex) -> {
				assertThat(ex.getDescription()).contains("@ShardConsumer method " + type.getSimpleName() + ".handle(")
					.containsPattern("has a parameter of type \\S+(Catalog|Prices|Store), of which there is a bean");
				assertThat(ex.getAction()).contains("Take the bean in the constructor", "as its payload T");
			});
	}

	/** A class may be that of a bean, and a payload may have any type of the JDK. */
	@Test
	void payloadMayHaveTheTypeOfABean() {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean(OfPrices.class);
		context.registerBean(Prices.class);
		context.registerBean("map", Map.class, Map::of);
		context.refresh();
		try (context) {
			assertThat(detect(context, TOPICS)).containsOnlyKeys("orders", "visits");
		}
	}

	@ParameterizedTest
	@CsvSource({ "OfExpression, topic, #{topics.orders}", "OfResolvedExpression, topic, #{topics.orders}",
			"OfExpressionInInterval, interval, #{timings.interval}" })
	void expressionIsNamed(String bean, String attribute, String expression) {
		this.environment.setProperty("my.expression", "#{topics.orders}");
		Class<?> type = Stream.of(OfExpression.class, OfResolvedExpression.class, OfExpressionInInterval.class)
			.filter((candidate) -> candidate.getSimpleName().equals(bean))
			.findFirst()
			.orElseThrow();

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(type))
			.satisfies((ex) -> {
				assertThat(ex.getDescription())
					.startsWith("The %s of the @ShardConsumer method %s.handle(".formatted(attribute, bean))
					.contains("is '" + expression + "'", "(SpEL) are not evaluated here");
				assertThat(ex.getAction()).contains("Write the " + attribute + " itself", "'${name}'");
			});
	}

	@Test
	void preparationIsCalledWithoutState() throws Throwable {
		try (GenericApplicationContext context = context(Preparing.class)) {
			ShardHandler handler = detect(context, TOPICS).get("orders");
			assertThat(handler.prepares()).isTrue();
			ShardContext shard = mock(ShardContext.class);
			given(shard.shard()).willReturn(ShardId.of("orders", 1));
			handler.prepare(shard);
			assertThat(context.getBean(Preparing.class).calls).containsExactly("orders/1");
		}
		assertThat(detect(Two.class).get("orders").prepares()).isFalse();
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detect(WrongPreparation.class))
			.withMessageContaining("@OnShardPreparing method WrongPreparation.prepare(ShardState)");
	}

	@Test
	void scopedBeanIsOneHandler() {
		GenericApplicationContext context = new GenericApplicationContext();
		BeanDefinitionHolder proxy = ScopedProxyUtils
			.createScopedProxy(new BeanDefinitionHolder(new RootBeanDefinition(Two.class), "two"), context, true);
		context.registerBeanDefinition(proxy.getBeanName(), proxy.getBeanDefinition());
		context.refresh();
		try (context) {
			assertThat(detect(context, TOPICS)).containsOnlyKeys("orders", "visits");
		}
	}

	@Test
	void finalMethodOfAnExtendedBeanIsRejected() {
		try (GenericApplicationContext context = advised(FinalMethod.class, true)) {
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context, TOPICS))
				.satisfies((ex) -> {
					assertThat(ex.getDescription()).contains(
							"@ShardConsumer method FinalMethod.handle(String) is final",
							"proxy that extends the class");
					assertThat(ex.getAction()).contains("Remove 'final'");
				});
		}
	}

	@Test
	void finalMethodOfABeanWithoutProxyIsCalled() throws Throwable {
		try (GenericApplicationContext context = context(FinalMethod.class)) {
			call(detect(context, TOPICS).get("orders"));

			assertThat(context.getBean(FinalMethod.class).calls).containsExactly("x");
		}
	}

	@Test
	void methodThatAProxyInAnotherPackageCannotInterceptIsRejected() {
		try (GenericApplicationContext context = advised(OfAnotherPackage.class, true)) {
			assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context, TOPICS))
				.satisfies((ex) -> {
					assertThat(ex.getDescription())
						.contains("HandlerOfAnotherPackage.handle(String) is package-private");
					assertThat(ex.getAction()).contains("public or protected");
				});
		}
	}

	@Test
	void methodOfAGenericInterfaceIsCalledThroughTheProxy() throws Throwable {
		try (GenericApplicationContext context = advised(OfGenericInterface.class, false)) {
			ShardHandler handler = detect(context, TOPICS).get("orders");
			call(handler);

			assertThat(this.intercepted).containsExactly("accept");
			assertThat(((OfGenericInterface) AopTestUtils.getTargetObject(context.getBean("handler"))).payloads)
				.containsExactly("x");
		}
	}

	@Test
	void handlersOfConfigurationClassesAreCalled() throws Throwable {
		for (Class<?> type : List.of(FullConfiguration.class, LiteConfiguration.class)) {
			try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(type)) {
				call(detect(context, TOPICS).get("orders"));

				assertThat(((WithCalls) context.getBean(type)).calls()).containsExactly("x");
			}
		}
	}

	@Test
	void handlerOfAParentContextIsCalled() throws Throwable {
		try (GenericApplicationContext parent = context(FinalMethod.class);
				GenericApplicationContext child = new GenericApplicationContext(parent)) {
			child.refresh();

			call(detect(child, TOPICS).get("orders"));

			assertThat(parent.getBean(FinalMethod.class).calls).containsExactly("x");
		}
	}

	@Test
	void prototypeIsOneObjectForAllItsHandlers() throws Throwable {
		List<Two> created = new ArrayList<>();
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean("two", Two.class, () -> {
			created.add(new Two());
			return created.get(created.size() - 1);
		}, (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		context.refresh();
		try (context) {
			Map<String, ShardHandler> handlers = detect(context, TOPICS);
			call(handlers.get("orders"));
			handlers.get("visits")
				.handle(null, new CallArguments(mock(ShardContext.class), mock(ShardState.class), null));

			assertThat(created).hasSize(1);
			assertThat(created.get(0).calls).hasSize(2);
		}
	}

	@Test
	void handlerThatAFactoryBeanHasMadeIsFound() throws Throwable {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			AnnotatedBeans beans = postProcessing(context);
			context.register(Factory.class);
			context.refresh();
			Object product = context.getBean("factory");

			call(new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper()), MessageArguments.NONE,
					CallHooks.NONE, (topic) -> TopicSchedule.NONE)
				.detect(TOPICS)
				.get("orders"));

			assertThat(((FinalMethod) product).calls).containsExactly("x");
		}
	}

	@Test
	void lazyBeanThatHidesItsClassIsNamedWhereATopicHasNoHandler(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Hiding.class)) {
			assertThat(detect(context, TOPICS)).isEmpty();
		}

		assertThat(output).contains("does not consume the topics [orders, visits]", "hidden=" + Object.class.getName(),
				"declare its class as the return type of the @Bean method");
	}

	@Test
	void handlerThatIsCreatedTooLateIsReportedOnce(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			AnnotatedBeans beans = postProcessing(context);
			context.register(Hiding.class);
			context.refresh();
			new ShardHandlerDetector(beans, new JsonPayloadConverter(new JsonMapper()), MessageArguments.NONE,
					CallHooks.NONE, (topic) -> TopicSchedule.NONE)
				.detect(TOPICS);

			context.getBean("hidden");
			context.getBean("many");
			context.getBean("many");
		}

		assertThat(output).containsOnlyOnce("The bean 'hidden' of " + FinalMethod.class.getName()
				+ " has @ShardConsumer methods that are not called: [handle]");
		assertThat(output).containsOnlyOnce("The bean 'many' of");
	}

	@Test
	void handlersOfAnObjectNeedNoContext() throws Throwable {
		ShardHandlerDetector detector = new ShardHandlerDetector(new DefaultListableBeanFactory(),
				new JsonPayloadConverter(new JsonMapper()));
		Object bean = new FinalMethod();

		Map<String, ShardHandler> found = detector.detect(bean, null, TOPICS, (topic) -> true);
		assertThat(found).containsOnlyKeys("orders");
		call(found.get("orders"));
		assertThat(detector.detect(bean, "visits", TOPICS, (topic) -> true)).containsOnlyKeys("visits");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> detector.detect(bean, "visit", TOPICS, (topic) -> true))
			.withMessageContaining("The registration of " + FinalMethod.class.getName(), "Did you mean 'visits'?");
	}

	/** Returns a post-processor of the context, which is not refreshed yet. */
	private static AnnotatedBeans postProcessing(AnnotationConfigApplicationContext context) {
		AnnotatedBeans beans = new AnnotatedBeans(context.getBeanFactory());
		context.registerBean("annotatedBeans", AnnotatedBeans.class, () -> beans);
		return beans;
	}

	private static void call(ShardHandler handler) throws Throwable {
		ShardContext shard = mock(ShardContext.class);
		given(shard.shard()).willReturn(ShardId.of("orders", 0));
		SourceRecord source = new SourceRecord(new Offset("1"), "k", "x".getBytes(), Instant.EPOCH);
		handler.handle(handler.convert(shard, source, 1), new CallArguments(shard, mock(ShardState.class), null));
	}

	private final List<String> intercepted = new ArrayList<>();

	private GenericApplicationContext advised(Class<?> type, boolean ofClass) {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean("interceptor", MethodInterceptor.class, () -> (invocation) -> {
			this.intercepted.add(invocation.getMethod().getName());
			return invocation.proceed();
		});
		context.registerBean(BeanNameAutoProxyCreator.class, () -> {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("handler");
			creator.setInterceptorNames("interceptor");
			creator.setProxyTargetClass(ofClass);
			return creator;
		});
		context.registerBean("handler", type);
		context.refresh();
		return context;
	}

	private Map<String, ShardHandler> detect(Class<?>... beans) {
		try (GenericApplicationContext context = context(beans)) {
			return detect(context, TOPICS);
		}
	}

	private Map<String, ShardHandler> detect(GenericApplicationContext context, Map<String, Integer> topics) {
		return new ShardHandlerDetector(context.getBeanFactory(), new JsonPayloadConverter(new JsonMapper()))
			.detect(topics);
	}

	private GenericApplicationContext context(Class<?>... beans) {
		GenericApplicationContext context = new GenericApplicationContext();
		context.setEnvironment(this.environment);
		for (Class<?> bean : beans) {
			context.registerBean(bean);
		}
		context.refresh();
		return context;
	}

	static class Two {

		final List<String> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void order(String payload) {
			this.calls.add("order " + payload);
		}

		@ShardConsumer(value = "visits", interval = "1s")
		void visit() {
			this.calls.add("visit");
		}

		@OnShardAssigned
		void assigned() {
			this.calls.add("assigned");
		}

		@OnShardRevoked
		void revoked() {
			this.calls.add("revoked");
		}

	}

	static class Batches {

		final List<Object> calls = new ArrayList<>();

		@ShardConsumer("orders")
		void payloads(List<Integer> payloads, ShardState state) {
			this.calls.add(payloads);
		}

		@ShardConsumer("visits")
		void records(Acknowledgment acknowledgment, List<ShardRecord<Integer>> records) {
			this.calls.add(records);
			acknowledgment.acknowledge();
		}

	}

	static class Looping {

		final List<String> calls = new ArrayList<>();

		@ShardConsumer(value = "orders", interval = "${my.interval}")
		void loop() {
			this.calls.add("loop");
		}

		@ShardConsumer(value = "visits", interval = "1s")
		void other(ShardContext shard) {
		}

	}

	static class Forgetful {

		@ShardConsumer("orders")
		void handle(ShardContext context, ShardState state) {
		}

	}

	static class WithEmptyInterval {

		@ShardConsumer(value = "orders", interval = "${my.interval:}")
		void handle(ShardContext context, ShardState state) {
		}

	}

	static class AsyncHandler {

		@Async
		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class AsyncMonoHandler {

		@Async
		@ShardConsumer("orders")
		Mono<Void> handle(String payload) {
			return Mono.empty();
		}

	}

	static class AsyncFutureHandler {

		@Async
		@ShardConsumer("orders")
		CompletableFuture<Void> handle(String payload) {
			return CompletableFuture.completedFuture(null);
		}

	}

	@Async
	static class AsyncBean {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class AsyncCallback {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

		@Async
		@OnShardRevoked
		void revoked() {
		}

	}

	@Async
	@Retention(RetentionPolicy.RUNTIME)
	@interface Background {

	}

	static class MetaAsyncHandler {

		@Background
		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Later {

	}

	static class LaterHandler {

		@Later
		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

	static class Hidden implements Handling {

		@Override
		public void handle() {
		}

		@ShardConsumer("orders")
		public void consume(String payload) {
		}

	}

	static class Impatient {

		@ShardConsumer(value = "orders", interval = "10s")
		void handle(String payload) {
		}

	}

	static class Failing {

		@ShardConsumer(value = "orders", interval = "1s")
		void fail() throws IOException {
			throw new IOException("caused by the test");
		}

	}

	interface Handling {

		void handle();

	}

	static class OfInterface implements Handling {

		@Override
		@ShardConsumer(value = "orders", interval = "1s")
		public void handle() {
		}

	}

	static class WithPlaceholder {

		@ShardConsumer("${my.topic}")
		void handle(String payload) {
		}

	}

	static class SameTopic {

		@ShardConsumer(value = "orders", interval = "1s")
		void one() {
		}

		@ShardConsumer(value = "orders", interval = "1s")
		void other() {
		}

	}

	static class OnlyCallback {

		@OnShardRevoked
		void revoked() {
		}

	}

	static class Preparing {

		final List<String> calls = new ArrayList<>();

		@ShardConsumer(value = "orders", interval = "1s")
		void handle() {
		}

		@OnShardPreparing
		void prepare(ShardContext shard) {
			this.calls.add(shard.shard().toString());
		}

	}

	static class WrongPreparation {

		@ShardConsumer(value = "orders", interval = "1s")
		void handle() {
		}

		@OnShardPreparing
		void prepare(ShardState state) {
		}

	}

	static class WrongCallback {

		@ShardConsumer(value = "orders", interval = "1s")
		void handle() {
		}

		@OnShardAssigned
		void assigned(String payload) {
		}

	}

	interface Catalog {

	}

	static class Prices implements Catalog {

	}

	@Component
	static class Store {

	}

	static class BeanAfterRecord {

		@ShardConsumer("orders")
		void handle(String payload, Prices prices) {
		}

	}

	static class FinalMethod {

		final List<String> calls = new ArrayList<>();

		@ShardConsumer("orders")
		final void handle(String payload) {
			this.calls.add(payload);
		}

	}

	static class BeanBeforeRecord {

		@ShardConsumer("orders")
		void handle(Prices prices, ShardRecord<String> record) {
		}

	}

	static class OfAnotherPackage extends HandlerOfAnotherPackage {

	}

	interface Acceptor<T> {

		void accept(T payload);

	}

	static class OfGenericInterface implements Acceptor<String> {

		final List<String> payloads = new ArrayList<>();

		@Override
		@ShardConsumer("orders")
		public void accept(String payload) {
			this.payloads.add(payload);
		}

	}

	interface WithCalls {

		List<String> calls();

	}

	@Configuration
	static class FullConfiguration implements WithCalls {

		private final List<String> calls = new ArrayList<>();

		@Override
		public List<String> calls() {
			return this.calls;
		}

		@ShardConsumer("orders")
		final void handle(String payload) {
			this.calls.add(payload);
		}

	}

	static class OnlyBean {

		@ShardConsumer("orders")
		void handle(Catalog catalog, ShardState state) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LiteConfiguration implements WithCalls {

		private final List<String> calls = new ArrayList<>();

		@Override
		public List<String> calls() {
			return this.calls;
		}

		@ShardConsumer("orders")
		final void handle(String payload) {
			this.calls.add(payload);
		}

	}

	static class OnlyComponent {

		@ShardConsumer("orders")
		void handle(ShardContext shard, Store store) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Hiding {

		@Bean
		@Lazy
		Object hidden() {
			return new FinalMethod();
		}

		@Bean
		@Scope("prototype")
		Object many() {
			return new FinalMethod();
		}

	}

	static class OfPrices {

		@ShardConsumer("orders")
		void handle(Prices prices) {
		}

		@ShardConsumer("visits")
		void handle(Map<String, Object> payload) {
		}

	}

	static class OfExpression {

		@ShardConsumer("#{topics.orders}")
		void handle(String payload) {
		}

	}

	static class OfResolvedExpression {

		@ShardConsumer("${my.expression}")
		void handle(String payload) {
		}

	}

	static class OfExpressionInInterval {

		@ShardConsumer(value = "orders", interval = "#{timings.interval}")
		void handle() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Factory {

		@Bean
		FactoryBean<Object> factory() {
			return new FactoryBean<>() {
				@Override
				public Object getObject() {
					return new FinalMethod();
				}

				@Override
				public Class<?> getObjectType() {
					return Object.class;
				}
			};
		}

	}

	static class SeveralTopics {

		@ShardConsumer({ "orders", "${second}" })
		void handle(String payload) {
		}

	}

	static class Repeating {

		@ShardConsumer("orders")
		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@ShardConsumer({})
	@interface Audited {

		@AliasFor(annotation = ShardConsumer.class, attribute = "value")
		String[] topics();

	}

	static class Composed {

		@Audited(topics = { "orders", "visits" })
		void handle(String payload) {
		}

	}

	static class ComposedAndOwn {

		@Audited(topics = "orders")
		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

	static class Intervals {

		@ShardConsumer(value = "orders", interval = "1s")
		@ShardConsumer(value = "visits", interval = "2s")
		void poll() {
		}

	}

	abstract static class OfAnything<T> {

		@ShardConsumer("orders")
		void handle(T payload) {
		}

	}

	static class OfNumbers extends OfAnything<Integer> {

	}

	static class Overriding extends OfAnything<String> {

		@Override
		@ShardConsumer("visits")
		void handle(String payload) {
		}

	}

	static class NoTopic {

		@ShardConsumer({})
		void handle(String payload) {
		}

	}

}
