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
 * <p>
 * Marks tests whose result the server decides: contracts and scripts of the stores,
 * streams, rights, a full memory, errors, and what replicas, Sentinels and Clusters do.
 * What clients or whole applications make of the same replies is tested on one Redis. Of
 * whole applications only those are marked that show what no test of one store can: all
 * operations with the least rights, failovers, a full Redis, a master without replicas,
 * TLS.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Tag("every-redis")
@ExtendWith(SecondRedisCondition.class)
public @interface OnEveryRedis {

}
