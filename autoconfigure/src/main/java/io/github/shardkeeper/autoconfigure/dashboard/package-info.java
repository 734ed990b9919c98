/**
 * Wiring of the dashboard, in the application and in the web server of the actuator.
 * Nothing else is wired here.
 */
@Internal
@NullMarked
package io.github.shardkeeper.autoconfigure.dashboard;

import org.jspecify.annotations.NullMarked;

import io.github.shardkeeper.Internal;
