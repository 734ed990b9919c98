package io.github.shardkeeper.cluster.signal;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Component;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.PayloadConversionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

class SignalMethodDetectorTests {

	private final MockEnvironment environment = new MockEnvironment().withProperty("own.signal", "from-property");

	private GenericApplicationContext context(Class<?>... beans) {
		GenericApplicationContext context = new GenericApplicationContext();
		context.setEnvironment(this.environment);
		for (Class<?> bean : beans) {
			context.registerBeanDefinition(bean.getSimpleName(), new RootBeanDefinition(bean));
		}
		return context;
	}

	private static List<SignalHandler> detect(GenericApplicationContext context) {
		context.refresh();
		return new SignalMethodDetector(new AnnotatedBeans(context.getBeanFactory()),
				new JsonPayloadConverter(new JsonMapper()))
			.detect();
	}

	private static ClusterSignal signal(String payload) {
		return new ClusterSignal("rebuild", 7, Instant.EPOCH, payload);
	}

	@Test
	void applicationWithoutMethodsHasNone() {
		assertThat(detect(context(Object.class))).isEmpty();
	}

	@Test
	void allMethodsAreFoundAlsoWithTheSameName() {
		assertThat(detect(context(Two.class, Another.class))).extracting(SignalHandler::signal, SignalHandler::method)
			.containsExactlyInAnyOrder(tuple("rebuild", "Two.rebuild(String)"),
					tuple("from-property", "Two.other(ClusterSignal, Order)"), tuple("rebuild", "Another.rebuild()"));
	}

	@Test
	void methodGetsWhatItTakes() throws Throwable {
		GenericApplicationContext context = context(Two.class, Another.class);
		for (SignalHandler handler : detect(context)) {
			handler.handle(signal("{\"id\":3}"));
		}

		Two two = context.getBean(Two.class);
		assertThat(two.text).isEqualTo("{\"id\":3}");
		assertThat(two.signal).isEqualTo(signal("{\"id\":3}"));
		assertThat(two.order).isEqualTo(new Order(3));
		assertThat(context.getBean(Another.class).calls).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "no json", "[]", "null", "{\"id\":\"x\"}" })
	void payloadThatCannotBeConvertedIsAFailure(String payload) {
		SignalHandler handler = detect(context(Two.class)).stream()
			.filter((each) -> each.signal().equals("from-property"))
			.findFirst()
			.orElseThrow();

		assertThatExceptionOfType(PayloadConversionException.class).isThrownBy(() -> handler.handle(signal(payload)))
			.withMessageContaining("payload");
	}

	@Test
	void whatTheMethodThrowsIsThrown() {
		SignalHandler handler = detect(context(Throwing.class)).get(0);

		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> handler.handle(signal("x")))
			.withMessage("expected");
	}

	@Test
	void methodsOfProxiesAreCalledThroughThem() throws Throwable {
		GenericApplicationContext context = context(Another.class);
		RootBeanDefinition creator = new RootBeanDefinition(BeanNameAutoProxyCreator.class);
		creator.getPropertyValues().add("beanNames", "Another").add("proxyTargetClass", true);
		context.registerBeanDefinition("creator", creator);
		List<SignalHandler> handlers = detect(context);

		handlers.get(0).handle(signal("x"));

		assertThat(handlers).hasSize(1);
		assertThat(context.getBean(Another.class)).isNotExactlyInstanceOf(Another.class);
		assertThat(context.getBean(Another.class).calls()).isEqualTo(1);
	}

	@Test
	void scopedBeanCountsOnce() {
		GenericApplicationContext context = context();
		RootBeanDefinition definition = new RootBeanDefinition(Another.class);
		definition.setScope("prototype");
		BeanDefinitionHolder proxy = ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(definition, "another"),
				context, true);
		context.registerBeanDefinition(proxy.getBeanName(), proxy.getBeanDefinition());

		assertThat(detect(context)).hasSize(1);
	}

	@Test
	void lazyBeanStaysLazy() throws Throwable {
		GenericApplicationContext context = context();
		RootBeanDefinition definition = new RootBeanDefinition(Another.class);
		definition.setLazyInit(true);
		context.registerBeanDefinition("another", definition);

		SignalHandler handler = detect(context).get(0);

		assertThat(context.getBeanFactory().containsSingleton("another")).isFalse();
		handler.handle(signal("x"));
		assertThat(context.getBean(Another.class).calls).isEqualTo(1);
	}

	@Test
	void methodOfAGenericClassTakesTheTypeOfTheSubclass() throws Throwable {
		GenericApplicationContext context = context(OfOrders.class);

		detect(context).get(0).handle(signal("{\"id\":3}"));

		assertThat(context.getBean(OfOrders.class).payload).isEqualTo(new Order(3));
	}

	@ParameterizedTest
	@ValueSource(classes = { BadName.class, Unresolved.class, Returning.class, Future.class, Private.class,
			Static.class, Asynchronous.class, TwoPayloads.class, TwoSignals.class, Bytes.class, Generic.class })
	void unsupportedMethodFailsStartup(Class<?> bean) {
		GenericApplicationContext context = context(bean);

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("@OnClusterSignal", "handle"))
			.satisfies((ex) -> assertThat(ex.getAction()).isNotBlank());
	}

	@ParameterizedTest
	@ValueSource(classes = { WithBean.class, WithOnlyBean.class })
	void beanAsParameterIsNamed(Class<?> bean) {
		GenericApplicationContext context = context(bean, Orders.class);

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context))
			.satisfies((ex) -> assertThat(ex.getDescription()).contains("@OnClusterSignal", "handle",
					"Orders, of which there is a bean"))
			.satisfies((ex) -> assertThat(ex.getAction()).contains("Take the bean in the constructor"));
	}

	@Test
	void expressionAsNameIsNamed() {
		GenericApplicationContext context = context(OfExpression.class);

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> detect(context))
			.withMessageContaining("(SpEL) are not evaluated here");
	}

	record Order(int id) {

	}

	static class Two {

		private String text = "";

		private ClusterSignal signal;

		private Order order;

		@OnClusterSignal("rebuild")
		void rebuild(String payload) {
			this.text = payload;
		}

		@OnClusterSignal("${own.signal}")
		public void other(ClusterSignal received, Order payload) {
			this.signal = received;
			this.order = payload;
		}

	}

	static class Another {

		private int calls;

		@OnClusterSignal("rebuild")
		void rebuild() {
			this.calls++;
		}

		int calls() {
			return this.calls;
		}

	}

	static class Throwing {

		@OnClusterSignal("rebuild")
		void handle() {
			throw new IllegalStateException("expected");
		}

	}

	abstract static class Of<T> {

		T payload;

		@OnClusterSignal("rebuild")
		void handle(T received) {
			this.payload = received;
		}

	}

	static class OfOrders extends Of<Order> {

	}

	static class BadName {

		@OnClusterSignal("with space")
		void handle() {
		}

	}

	static class Unresolved {

		@OnClusterSignal("${missing}")
		void handle() {
		}

	}

	static class Returning {

		@OnClusterSignal("rebuild")
		String handle() {
			return "";
		}

	}

	static class Future {

		@OnClusterSignal("rebuild")
		CompletableFuture<Void> handle() {
			return new CompletableFuture<>();
		}

	}

	static class Private {

		@OnClusterSignal("rebuild")
		private void handle() {
		}

	}

	static class Static {

		@OnClusterSignal("rebuild")
		static void handle() {
		}

	}

	static class Asynchronous {

		@Async
		@OnClusterSignal("rebuild")
		void handle() {
		}

	}

	static class TwoPayloads {

		@OnClusterSignal("rebuild")
		void handle(String one, Order other) {
		}

	}

	static class TwoSignals {

		@OnClusterSignal("rebuild")
		void handle(ClusterSignal one, ClusterSignal other) {
		}

	}

	static class Bytes {

		@OnClusterSignal("rebuild")
		void handle(byte[] payload) {
		}

	}

	static class Generic {

		@OnClusterSignal("rebuild")
		<T> void handle(List<T> payload) {
		}

	}

	@Component
	static class Orders {

	}

	static class WithBean {

		@OnClusterSignal("rebuild")
		void handle(String payload, Orders orders) {
		}

	}

	static class WithOnlyBean {

		@OnClusterSignal("rebuild")
		void handle(Orders orders) {
		}

	}

	static class OfExpression {

		@OnClusterSignal("#{signals.rebuild}")
		void handle() {
		}

	}

}
