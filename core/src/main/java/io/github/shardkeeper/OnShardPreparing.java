package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called when a
 * shard is likely to move to this instance soon. It can warm a cache or open a connection
 * while the old owner still consumes the shard, so that the move takes less time.
 * <p>
 * It is only a hint: it is called at most once for each planned move, and not at all if
 * there is no time for it. The move may be cancelled, or the shard may move elsewhere;
 * there is no callback for that. So prepare only what is cheap to keep or expires.
 * <p>
 * It takes a {@link ShardContext}, or nothing. This instance does not own the shard yet:
 * {@link ShardContext#isHeld()} is {@code false}, and {@link ShardContext#token()} is
 * {@link io.github.shardkeeper.shard.Token#NONE}, lower than any real token, so a store
 * that compares tokens rejects a write with it. There is no {@link ShardState} yet. An
 * exception is logged, and the shard starts without the preparation.
 * <p>
 * On a bean with handlers of several topics it is called for the shards of all of them.
 * It runs on the threads of handlers, and for one shard never concurrently with the
 * handler or another callback of this instance. If these threads are a pool, preparations
 * use at most a quarter of it at a time, but at least one thread; the others wait. A
 * shard that arrives during its preparation starts when the method has returned, so the
 * method should take no longer than it saves. It is interrupted when the instance stops,
 * and when the shard must move on and that takes longer than
 * {@code shardkeeper.handover.timeout}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardPreparing {

}
