package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called when a
 * shard is about to leave this instance, after its last record was handled and before the
 * final commit.
 * <p>
 * It takes {@link ShardContext} and {@link ShardState}, in any order and each at most
 * once. What it writes to {@link ShardState} is part of that commit, unless records that
 * wrote to the state too are not acknowledged when it has returned: then it is dropped,
 * with a warning. When it throws, that is logged and the handover goes on.
 * <p>
 * It is called too when the shard was lost without warning (the session ended, a newer
 * owner exists), so that the application can drop what it holds for the shard. A new
 * owner may consume by then; {@link ShardContext#isHeld()} tells, and the commit that
 * follows is refused as soon as that owner has acquired the shard.
 * <p>
 * On a bean with handlers of several topics it is called for the shards of all of them.
 * For one shard it never runs at the same time as the handler.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardRevoked {

}
