package io.github.shardkeeper.coordination;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignment;

/** What came of asking a strategy. */
sealed interface AssignmentAnswer {

	/**
	 * An assignment that can be.
	 *
	 * @param assignment it, made for what was asked
	 */
	record Computed(Assignment assignment) implements AssignmentAnswer {

	}

	/**
	 * Nothing that can be used.
	 *
	 * @param kind the same for what is the same problem
	 * @param text what is wrong and what to do, one or two sentences
	 * @param cause what was thrown, {@code null} for nothing
	 */
	record Failed(String kind, String text, @Nullable Throwable cause) implements AssignmentAnswer {

	}

}
