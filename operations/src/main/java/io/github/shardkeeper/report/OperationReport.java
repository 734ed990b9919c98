package io.github.shardkeeper.report;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reply to an operation that somebody has requested. Immutable.
 *
 * @param action the operation
 * @param target the group, instance, topic or shard that it concerns
 * @param by the caller
 * @param dryRun whether nothing was changed
 * @param done whether the operation has been performed, or had been before
 * @param effects what has happened, or what would happen, a sentence each
 * @param refused always {@code null}: an operation that is refused has another reply,
 * with the reason
 */
public record OperationReport(String action, String target, String by, boolean dryRun, boolean done,
		List<String> effects, @Nullable String refused) {

	public OperationReport {
		effects = List.copyOf(effects);
	}

}
