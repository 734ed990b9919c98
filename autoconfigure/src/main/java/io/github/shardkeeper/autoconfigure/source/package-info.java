/**
 * Sources: which topic has which, and the beans of those that are optional. The source of
 * Redis is defined with its store.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.source;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
