/**
 * API for applications: annotations and arguments of handlers, sending, application
 * events, and operations to inject. Does not belong here: implementations, or an SPI.
 */
@NullMarked
package io.github.shardkeeper;

import org.jspecify.annotations.NullMarked;
