package io.github.shardkeeper.autoconfigure.properties;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches in the context of the application: not in that of a group of
 * {@code shardkeeper.groups}.
 */
public final class OnApplication implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return GroupEnvironment.name(context.getEnvironment()).isEmpty();
	}

}
