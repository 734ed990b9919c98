package io.github.shardkeeper;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method, on the same bean as a {@link ShardConsumer}, that is called when a
 * shard is likely to come to this instance soon: to warm a cache or to open a connection
 * while its old owner still consumes, so that the move takes less time.
 * <p>
 * It is a hint, and no more. It is called at most once for each move that is planned, and
 * not at all where there was no time for it. The shard may never come, because the move
 * was cancelled or went elsewhere; nobody is told. So what it prepares should be cheap to
 * keep, or go away by itself.
 * <p>
 * It takes a {@link ShardContext}, or nothing. The shard is somebody else's at that time,
 * or nobody's: {@link ShardContext#isHeld()} is {@code false} and
 * {@link ShardContext#token()} is {@link io.github.shardkeeper.shard.Token#NONE}, lower
 * than any that was ever given, so that a store that compares tokens refuses a write with
 * it. There is no {@link ShardState} yet. When it throws, that is logged, and the shard
 * starts without it.
 * <p>
 * On a bean with handlers of several topics it is called for the shards of all of them.
 * It runs on the threads that handlers run on, and for one shard never at the same time
 * as the handler or another callback on this instance. Where these threads are a pool,
 * preparations take at most a quarter of it at a time, but at least one thread; the
 * others wait. A shard that comes while it runs starts only after it has returned, so it
 * should not take longer than the preparation is worth. It is interrupted when the shard
 * has to go again and that takes longer than {@code shardkeeper.handover.timeout}, and
 * when the instance stops.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardPreparing {

}
