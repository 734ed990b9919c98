/**
 * Conversion of payloads: the mapper, the converters of topics and of the parameters of
 * handlers.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.payload;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
