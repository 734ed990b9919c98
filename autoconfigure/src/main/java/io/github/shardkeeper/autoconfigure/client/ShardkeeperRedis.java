package io.github.shardkeeper.autoconfigure.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Qualifies the {@code LettuceConnectionFactory} bean whose Redis Shardkeeper uses, where
 * it is not the application's default one: an application with several, or with another
 * client than Lettuce. Shardkeeper copies its addresses, credentials, TLS and client
 * options, and opens connections of its own.
 *
 * <pre class="code">
 * &#64;Bean(defaultCandidate = false)
 * &#64;ShardkeeperRedis
 * LettuceConnectionFactory shardsRedis() {
 *     return new LettuceConnectionFactory("shards.example.com", 6379);
 * }
 * </pre>
 * <p>
 * Without {@code defaultCandidate = false}, the bean is also the application's: Spring
 * Boot then creates none from {@code spring.data.redis.*}.
 */
@Target({ ElementType.METHOD, ElementType.PARAMETER, ElementType.FIELD, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface ShardkeeperRedis {

}
