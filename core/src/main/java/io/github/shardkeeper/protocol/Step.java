package io.github.shardkeeper.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * The reply of a machine to an event. Immutable.
 *
 * @param <A> the type of the actions
 * @param actions the actions to carry out now, in this order
 * @param wakeAt when to report that time has passed, if nothing happens before;
 * {@code null} for never
 */
public record Step<A>(List<A> actions, @Nullable MonotonicTime wakeAt) {

	public Step {
		actions = List.copyOf(actions);
	}

}
