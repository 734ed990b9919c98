/**
 * An operation that people request: its name, fields and answers, the shards that it
 * names, and the record of who changed what. No single operation belongs here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.operations.request;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
