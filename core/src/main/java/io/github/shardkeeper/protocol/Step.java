package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * The answer of a machine to an event. Immutable.
 *
 * @param <A> the actions of the machine
 * @param actions what to do now, in this order
 * @param wakeAt when to tell the machine that time has passed if nothing happens before;
 * {@code null} for never
 */
public record Step<A>(List<A> actions, @Nullable MonotonicTime wakeAt) {

	public Step {
		actions = List.copyOf(actions);
	}

}
