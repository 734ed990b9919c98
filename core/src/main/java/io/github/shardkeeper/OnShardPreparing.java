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
 * while the old owner still consumes the shard, so that the move takes less time. If the
 * bean handles several topics, it is called for the shards of all.
 * <p>
 * It is only a hint: it is called at most once for each planned move, and not at all if
 * there is no time for it. The move may be cancelled, or the shard may move elsewhere,
 * without a callback. So prepare only what is cheap to keep or expires.
 * <p>
 * It takes a {@link ShardContext}, or nothing. This instance does not own the shard yet:
 * there is no {@link ShardState}, {@link ShardContext#isHeld()} is {@code false}, and
 * {@link ShardContext#token()} is {@link io.github.shardkeeper.shard.Token#NONE}, which
 * is lower than any real token, so a store that compares tokens rejects a write with it.
 * If it throws, the exception is logged and the shard starts unprepared.
 * <p>
 * It runs on the threads of handlers, for one shard never concurrently with the handler
 * or another callback of this instance. If these threads are a pool, preparations use at
 * most a quarter of it at a time, but at least one thread. A shard that arrives during
 * its preparation starts when the method has returned. The method is interrupted when the
 * instance stops, and when the shard must move on and that takes longer than
 * {@code shardkeeper.handover.timeout}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface OnShardPreparing {

}
