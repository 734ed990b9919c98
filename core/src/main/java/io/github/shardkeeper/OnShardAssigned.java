package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called after a
 * shard was acquired and before its first record is handled.
 * <p>
 * It takes {@link ShardContext} and {@link ShardState}, in any order and each at most
 * once. A method that throws is called again after a growing pause: the shard does not
 * start without it.
 * <p>
 * On a bean with handlers of several topics it is called for the shards of all of them.
 * For one shard it never runs at the same time as the handler.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardAssigned {

}
