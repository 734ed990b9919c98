/**
 * Endpoint, health and meters. Read reports, decide nothing.
 */
@NullMarked
package io.github.shardkeeper.actuate;

import org.jspecify.annotations.NullMarked;
