/**
 * Sending: the template with its selectors, its queue and its bounds. Where records go is
 * behind the ports of {@code source}.
 */
@NullMarked
package io.github.shardkeeper.template;

import org.jspecify.annotations.NullMarked;
