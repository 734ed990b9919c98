/**
 * Immutable snapshots of what is going on, for people and machines that look in from
 * outside. Decide nothing.
 */
@NullMarked
package io.github.shardkeeper.report;

import org.jspecify.annotations.NullMarked;
