/**
 * Texts for people: fit for one line of a log, a terminal and an endpoint, whatever they
 * were made of. What a text says is decided elsewhere.
 */
@Internal
@NullMarked
package io.github.shardkeeper.text;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
