/**
 * API for applications: annotations and arguments of handlers, sending, application
 * events, and operations to inject. Does not belong here: an implementation, or an SPI to
 * implement.
 */
@NullMarked
package io.github.shardkeeper;

import org.jspecify.annotations.NullMarked;
