/**
 * What an application types: annotations, the arguments of its handlers, and the template
 * that sends.
 */
@NullMarked
package io.github.shardkeeper;

import org.jspecify.annotations.NullMarked;
