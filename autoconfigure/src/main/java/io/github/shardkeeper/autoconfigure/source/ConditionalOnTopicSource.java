package io.github.shardkeeper.autoconfigure.source;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if a topic has a built-in source, or if it is the default: the source of the
 * store, in an application without sources of its own.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(OnTopicSourceCondition.class)
public @interface ConditionalOnTopicSource {

	/** Name of the source. */
	String value();

}
