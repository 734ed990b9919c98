/**
 * Counts the visits in a web server's access log, per client, on as many instances as you
 * start.
 * <p>
 * Read {@link io.github.shardkeeper.sample.VisitCounter} first: it is the handler that an
 * application writes. {@link io.github.shardkeeper.sample.VisitsController} shows the
 * counts. The package {@code feed} sends the lines; the package {@code local} starts
 * Redis and is not needed in an application of your own.
 */
@NullMarked
package io.github.shardkeeper.sample;

import org.jspecify.annotations.NullMarked;
