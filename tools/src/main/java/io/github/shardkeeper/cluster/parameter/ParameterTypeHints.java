package io.github.shardkeeper.cluster.parameter;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Hints for a native image to convert the values of annotated fields that are JSON. The
 * annotation itself has the hint to set the field. Immutable.
 */
final class ParameterTypeHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> bean = registeredBean.getBeanClass();
		Type[] types = ClusterParameterFields.find(bean)
			.stream()
			.map((field) -> ValueType.of(field, bean))
			.filter((type) -> !type.isPlain())
			.map(ValueType::type)
			.toArray(Type[]::new);
		return (types.length == 0) ? null : (generation, code) -> new BindingReflectionHintsRegistrar()
			.registerReflectionHints(generation.getRuntimeHints().reflection(), types);
	}

}
