/**
 * Test slice: the handlers of an application on stores in memory, on the thread of the
 * test and in a time that the test sets. What a test does between processes, on Redis or
 * on Kafka belongs into {@code test}.
 */
@NullMarked
package io.github.shardkeeper.test.slice;

import org.jspecify.annotations.NullMarked;
