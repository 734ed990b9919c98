/**
 * Endpoint, health and meters, read from reports of the engine. No decisions are made
 * here, and the engine depends on nothing in this package.
 */
@Internal
@NullMarked
package io.github.shardkeeper.actuate;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
