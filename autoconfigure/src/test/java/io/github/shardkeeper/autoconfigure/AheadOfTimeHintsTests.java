package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.testsupport.AheadOfTime;

import static org.assertj.core.api.Assertions.assertThat;

/** What a native image of an application gets from the starter. */
class AheadOfTimeHintsTests {

	private static final ReflectionHintsPredicates REFLECTION = RuntimeHintsPredicates.reflection();

	private static RuntimeHints hints(String... properties) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of("shardkeeper.group=test", "shardkeeper.topics.orders.shards=2")
			.and(properties)
			.applyTo(context);
		context.register(Application.class);
		return AheadOfTime.hints(context);
	}

	@Test
	void annotatedMethodsAndFieldsOfBeansAreReached() {
		RuntimeHints hints = hints();

		for (String name : List.of("handle", "due", "greet", "report")) {
			Method method = ReflectionUtils.findMethod(Orders.class, name, (Class<?>[]) null);
			assertThat(method).as(name).isNotNull();
			assertThat(REFLECTION.onMethodInvocation(method)).as(name).accepts(hints);
		}
		assertThat(REFLECTION.onFieldAccess(Orders.class, "limits")).accepts(hints);
	}

	@Test
	void payloadsParametersAndVersionedStateAreConverted() {
		RuntimeHints hints = hints();

		assertThat(List.of(Order.class, Greeting.class, Limits.class, Total.class))
			.allMatch((type) -> REFLECTION.onType(type)
				.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)
				.test(hints));
	}

	@Test
	void imageContainsTheScriptsOfTheStoresInUse() {
		assertThat(RuntimeHintsPredicates.resource().forResource("io/github/shardkeeper/redis/prelude.lua"))
			.accepts(hints())
			.rejects(hints("shardkeeper.store=memory"));
		assertThat(RuntimeHintsPredicates.resource().forResource("io/github/shardkeeper/jdbc/schema-h2.sql"))
			.accepts(hints("shardkeeper.topics.orders.consumer.transaction=jdbc"))
			.rejects(hints());
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ShardkeeperBuildTimeAutoConfiguration.class, ShardkeeperAutoConfiguration.class,
			DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class })
	static class Application {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		StateMigration<Total> totals() {
			return StateMigration.of(Total.class, 2, (value, from) -> value);
		}

	}

	static class Orders {

		@ClusterParameter("limits")
		private volatile Limits limits = new Limits(7);

		@ShardConsumer("orders")
		void handle(Order order) {
		}

		@OnShardTimer
		void due(ShardTimer timer) {
		}

		@OnClusterSignal("greet")
		void greet(Greeting greeting) {
		}

		@ClusterExclusive("report")
		void report() {
		}

	}

	record Order(String id) {

	}

	record Total(int count) {

	}

	record Greeting(String text) {

	}

	record Limits(int most) {

	}

}
