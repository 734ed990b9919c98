/**
 * Data plane in the application's own database, and the transactions in which handlers
 * are called and their commits are written. Knows JDBC and Spring's transactions; not
 * Spring Boot, and no coordination.
 */
@Internal
@NullMarked
package io.github.shardkeeper.jdbc;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
