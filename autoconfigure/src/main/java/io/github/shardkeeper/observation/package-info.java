/**
 * Micrometer observations of handler calls and of sent records: names, contexts and
 * conventions. Meters are in {@code actuate}; no other package depends on Micrometer's
 * observations.
 */
@NullMarked
package io.github.shardkeeper.observation;

import org.jspecify.annotations.NullMarked;
