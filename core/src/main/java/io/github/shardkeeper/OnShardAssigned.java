package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called after a
 * shard was acquired and before its first record is handled. If the bean handles several
 * topics, it is called for the shards of all.
 * <p>
 * It takes {@link ShardContext} and {@link ShardState}, in any order and each at most
 * once. If it throws, it is called again after a pause that grows: the shard does not
 * start without it. It runs on the threads of handlers, for one shard never concurrently
 * with the handler or another callback; for different shards it may run concurrently.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardAssigned {

}
