package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

import io.github.shardkeeper.StateMigration;

/**
 * Hints for a native image to convert values of the state, of the classes that have a
 * migration. Nothing declares the others. Immutable.
 */
final class StateMigrationHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> type = registeredBean.getBeanType().as(StateMigration.class).getGeneric(0).resolve();
		return (type == null) ? null : (generation, code) -> new BindingReflectionHintsRegistrar()
			.registerReflectionHints(generation.getRuntimeHints().reflection(), type);
	}

}
