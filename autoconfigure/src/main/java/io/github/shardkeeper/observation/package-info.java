/**
 * Observations of handlers' calls and of what is sent: names, contexts, conventions. The
 * only room that knows Micrometer's observations.
 */
@NullMarked
package io.github.shardkeeper.observation;

import org.jspecify.annotations.NullMarked;
