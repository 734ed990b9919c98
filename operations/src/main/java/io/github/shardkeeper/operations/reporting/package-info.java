/**
 * What people and meters read of a group: reports on demand, and samples at an interval.
 * Decides and changes nothing.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.reporting;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
