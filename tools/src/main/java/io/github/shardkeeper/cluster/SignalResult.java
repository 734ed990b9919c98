package io.github.shardkeeper.cluster;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Who has handled a signal, at the end of a wait. Immutable.
 *
 * @param complete whether the wait has ended with what it waited for: so many instances
 * have handled the signal, or all that have a method for it and have not left
 * @param handled the sessions that have handled it
 * @param failed the sessions that have failed, with the reason
 * @param pending the sessions that have not answered yet
 * @param gone the sessions that this wait has seen pending, and that ended before they
 * answered. Their instance may be back in another session. A session that ended before
 * the wait began is not listed, nor is one that began and ended between two of its reads
 */
public record SignalResult(boolean complete, List<MemberId> handled, Map<MemberId, String> failed,
		List<MemberId> pending, List<MemberId> gone) {

	public SignalResult {
		Objects.requireNonNull(handled, "handled must not be null");
		Objects.requireNonNull(failed, "failed must not be null");
		Objects.requireNonNull(pending, "pending must not be null");
		Objects.requireNonNull(gone, "gone must not be null");
		handled = List.copyOf(handled);
		failed = Map.copyOf(failed);
		pending = List.copyOf(pending);
		gone = List.copyOf(gone);
	}

}
