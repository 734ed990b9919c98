/**
 * The failure handlers of topics: rules in properties, and beans of the application.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.failure;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
