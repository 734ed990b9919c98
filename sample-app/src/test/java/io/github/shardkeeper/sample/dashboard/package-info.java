/** Tests of the dashboard over HTTP and in a real browser. */
@NullMarked
package io.github.shardkeeper.sample.dashboard;

import org.jspecify.annotations.NullMarked;
