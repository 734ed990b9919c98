/**
 * Wiring: properties, how they are validated and become settings, beans, and analysis of
 * failed startups. The only package that creates beans; contains no behavior of its own.
 */
@NullMarked
package io.github.shardkeeper.autoconfigure;

import org.jspecify.annotations.NullMarked;
