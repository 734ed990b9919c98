package io.github.shardkeeper.handler;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.testsupport.AheadOfTime;

import static org.assertj.core.api.Assertions.assertThat;

/** A native image can call the methods of handlers, and convert what they take. */
class PayloadHintsTests {

	private static RuntimeHints hints(Class<?>... beans) {
		GenericApplicationContext context = new GenericApplicationContext();
		for (Class<?> bean : beans) {
			context.registerBeanDefinition(bean.getSimpleName(), new RootBeanDefinition(bean));
		}
		return AheadOfTime.hints(context);
	}

	private static boolean isBound(Class<?> type, RuntimeHints hints) {
		return RuntimeHintsPredicates.reflection()
			.onType(type)
			.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)
			.test(hints);
	}

	@Test
	void payloadIsConvertedWithAllThatItContains() {
		RuntimeHints hints = hints(Shapes.class);

		assertThat(List.of(Single.class, Whole.class, InBatch.class, InWholeBatch.class, OfMessage.class,
				WithHeader.class, Part.class))
			.allMatch((type) -> isBound(type, hints));
		assertThat(isBound(ShardContext.class, hints)).isFalse();
		assertThat(isBound(Unused.class, hints)).isFalse();
	}

	@Test
	void payloadOfAGenericSuperclassIsThatOfTheBean() {
		assertThat(isBound(Single.class, hints(OfSuperclass.class))).isTrue();
	}

	@Test
	void everyAnnotatedMethodCanBeCalled() {
		RuntimeHints hints = hints(Shapes.class, Callbacks.class);

		assertThat(Stream.of(Shapes.class, Callbacks.class).flatMap((type) -> Stream.of(type.getDeclaredMethods())))
			.hasSize(11)
			.allMatch((method) -> method.getName().equals("unused") != isCallable(method, hints));
	}

	private static boolean isCallable(Method method, RuntimeHints hints) {
		return RuntimeHintsPredicates.reflection().onMethodInvocation(method).test(hints);
	}

	record Single(Part part) {

	}

	record Whole(String id) {

	}

	record InBatch(String id) {

	}

	record InWholeBatch(String id) {

	}

	record OfMessage(String id) {

	}

	record WithHeader(String id) {

	}

	record Part(String id) {

	}

	record Unused(String id) {

	}

	static class Shapes {

		@ShardConsumer("a")
		void single(Single payload, ShardContext context, ShardState state) {
		}

		@ShardConsumer("b")
		void whole(ShardRecord<Whole> payload) {
		}

		@ShardConsumer("c")
		void inBatch(List<InBatch> payloads) {
		}

		@ShardConsumer("d")
		void inWholeBatch(List<ShardRecord<InWholeBatch>> payloads) {
		}

		@ShardConsumer("e")
		void ofMessage(Message<OfMessage> message) {
		}

		@ShardConsumer("f")
		void withHeader(@Payload WithHeader payload, @Header("id") String id) {
		}

		void unused(Unused parameter) {
		}

	}

	abstract static class Superclass<T> {

		@ShardConsumer("a")
		void handle(T payload) {
		}

	}

	static class OfSuperclass extends Superclass<Single> {

	}

	static class Callbacks {

		@OnShardPreparing
		void preparing() {
		}

		@OnShardAssigned
		void assigned() {
		}

		@OnShardRevoked
		void revoked() {
		}

		@OnShardTimer
		void timer(ShardTimer timer) {
		}

	}

}
