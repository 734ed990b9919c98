/**
 * Strategies by a rule that does not use current owners: ranges, turns, hashing. Pure.
 * Does not belong here: what decides by history, weight or load.
 */
@Internal
@NullMarked
package io.github.shardkeeper.assignment.rules;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
