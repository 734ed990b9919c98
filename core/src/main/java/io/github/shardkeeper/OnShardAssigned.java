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
 * once. If it throws, it is called again after a pause that grows: the shard does not
 * start without it.
 * <p>
 * On a bean with handlers of several topics it is called for the shards of all of them.
 * It runs on the threads of handlers. For one shard it never runs concurrently with the
 * handler or another callback; for different shards it may run concurrently.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardAssigned {

}
