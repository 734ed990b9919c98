/**
 * Sends the lines of an access log, or generated ones, to the sample's topic. What is
 * done with a line does not belong here.
 */
@NullMarked
package io.github.shardkeeper.sample.feed;

import org.jspecify.annotations.NullMarked;
