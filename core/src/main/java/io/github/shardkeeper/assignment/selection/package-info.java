/**
 * Selection of strategies by name and by topic. Pure. Belongs here: what knows all
 * strategies.
 */
@Internal
@NullMarked
package io.github.shardkeeper.assignment.selection;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
