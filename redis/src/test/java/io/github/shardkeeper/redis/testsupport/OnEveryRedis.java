package io.github.shardkeeper.redis.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * For tests that the proof runs a second time, on the Redis 7 of the machine. They are
 * skipped there, and say why, where the machine has none.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Tag("every-redis")
@ExtendWith(SecondRedisCondition.class)
public @interface OnEveryRedis {

}
