/**
 * Counts the visits in a web server's access log, per client, on as many instances as you
 * start.
 * <p>
 * Read {@link io.github.shardkeeper.sample.VisitCounter} first: it is what an application
 * writes. {@link io.github.shardkeeper.sample.Feeder} sends it the lines,
 * {@link io.github.shardkeeper.sample.VisitsController} shows what was counted.
 * {@link io.github.shardkeeper.sample.OwnRedis} and
 * {@link io.github.shardkeeper.sample.FreeWebPort} only spare you to install and
 * configure anything; an application of your own needs neither.
 */
@NullMarked
package io.github.shardkeeper.sample;

import org.jspecify.annotations.NullMarked;
