/**
 * Lets the sample run on a machine with nothing but a JDK and Maven: starts a Redis where
 * none listens, and a Kafka if one is wanted, and gives each instance a web port of its
 * own. It is registered in {@code META-INF/spring.factories}. Nothing here belongs in an
 * application of your own.
 */
@NullMarked
package io.github.shardkeeper.sample.local;

import org.jspecify.annotations.NullMarked;
