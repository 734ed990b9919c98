package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called when a
 * shard leaves this instance: after its last record was handled and before the final
 * commit. If the bean handles several topics, it is called for the shards of all.
 * <p>
 * It takes {@link ShardContext} and {@link ShardState}, in any order and each at most
 * once. Its changes of the state are part of the final commit, unless records that
 * changed the state too are not acknowledged when it returns: then they are dropped, with
 * a warning. If it throws, the exception is logged and the handover continues.
 * <p>
 * It is also called when the shard was lost without warning (the session ended, or a
 * newer owner exists), so that the application can release what it holds for the shard.
 * Then {@link ShardContext#isHeld()} is {@code false}, and the final commit is refused
 * once a new owner has acquired the shard.
 * <p>
 * It runs on the threads of handlers, for one shard never concurrently with the handler
 * or another callback; for different shards it may run concurrently.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardRevoked {

}
