/**
 * Test kit for applications and for sources of their own: instances of a group in one
 * JVM, Redis servers and Kafka brokers for a test, a network with faults, and the
 * contract of a source. What only the tests of Shardkeeper itself need stays in their own
 * fixtures; nothing here is for production.
 */
@NullMarked
package io.github.shardkeeper.test;

import org.jspecify.annotations.NullMarked;
