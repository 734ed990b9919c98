package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks the method, on the same bean as a {@link ShardConsumer}, that is called for each
 * timer that is due, see {@link ShardTimers}. A bean has one such method. If it handles
 * several topics, the method is called for the shards of all.
 * <p>
 * It takes {@link ShardTimer}, {@link ShardState}, {@link ShardOutput},
 * {@link ShardTimers} (to set the next one) and {@link ShardContext}, in any order and
 * each at most once. Its call is one like that for a record: what it writes is committed
 * with the removal of the timer, it runs on the threads of handlers, and a failed one is
 * retried and then treated as the topic's {@code on-failure} says. With a handler without
 * records, a failed call is repeated after a pause that grows.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardTimer {

}
