package io.github.shardkeeper.handler;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardConsumer;

/**
 * Hints for a native image to call the annotated methods of beans, and to convert the
 * payloads that they take. The annotation itself has a hint only for the method that it
 * stands at, which may be that of an interface. Immutable.
 */
@Internal
public class PayloadHints implements BeanRegistrationAotProcessor {

	private final Class<? extends Annotation> annotation;

	/** Of the methods with {@link ShardConsumer}. */
	PayloadHints() {
		this(ShardConsumer.class);
	}

	/** Of the methods with an annotation. */
	protected PayloadHints(Class<? extends Annotation> annotation) {
		this.annotation = annotation;
	}

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> bean = registeredBean.getBeanClass();
		if (!AnnotatedBeans.mayHave(bean, this.annotation)) {
			return null;
		}
		Set<Method> methods = AnnotatedBeans.methods(bean, this.annotation);
		Type[] payloads = methods.stream().flatMap((method) -> payloads(method, bean)).toArray(Type[]::new);
		return methods.isEmpty() ? null : (generation, code) -> {
			ReflectionHints hints = generation.getRuntimeHints().reflection();
			methods.forEach((method) -> hints.registerMethod(method, ExecutableMode.INVOKE));
			new BindingReflectionHintsRegistrar().registerReflectionHints(hints, payloads);
		};
	}

	/** What is filled from a message counts, too: a header may be converted as well. */
	private static Stream<Type> payloads(Method method, Class<?> bean) {
		return IntStream.range(0, SuspendingFunction.parameterCount(method))
			.mapToObj((parameter) -> ResolvableType.forMethodParameter(method, parameter, bean))
			.filter((type) -> HandlerArgument.of(type).isOfRecords())
			.map((type) -> GenericTypeResolver.resolveType(HandlerArgument.of(type).payload(type).getType(), bean));
	}

}
