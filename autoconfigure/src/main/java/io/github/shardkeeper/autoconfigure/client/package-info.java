/**
 * What applications define about the clients that the starter opens itself. Does not
 * belong here: what the clients do, and how they are wired.
 */
@NullMarked
package io.github.shardkeeper.autoconfigure.client;

import org.jspecify.annotations.NullMarked;
