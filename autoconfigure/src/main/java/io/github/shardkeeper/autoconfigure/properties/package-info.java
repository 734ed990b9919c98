/**
 * Properties, how they are validated and become settings of the engine, and what is said
 * of wrong and unknown ones. Defines no bean.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.properties;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
