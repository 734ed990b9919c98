/**
 * What leader and members exchange through the store, as values and as text: owners,
 * changes, replies, reports, reasons and problems. Pure, like the machines in {@code
 * leader} and {@code member}.
 */
@Internal
@NullMarked
package io.github.shardkeeper.protocol;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
