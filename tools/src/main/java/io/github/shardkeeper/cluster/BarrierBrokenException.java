package io.github.shardkeeper.cluster;

import java.util.List;
import java.util.stream.Stream;

import io.github.shardkeeper.shard.MemberId;

/**
 * Thrown if a round at a {@link DoubleBarrier} cannot become complete: a party has died
 * without leaving or has aborted, the session of this instance has ended, or the store
 * has lost the round. This instance is not in the barrier any more. A retry of the whole
 * round makes sense.
 */
public class BarrierBrokenException extends RuntimeException {

	/** As text, which can be serialized. */
	private final String[] missing;

	/**
	 * Creates the exception.
	 * @param message the problem
	 * @param missing the sessions that have not left
	 */
	public BarrierBrokenException(String message, List<MemberId> missing) {
		super(message);
		this.missing = missing.stream().map(MemberId::value).toArray(String[]::new);
	}

	/**
	 * Returns the sessions that ended before they left, or have aborted.
	 * @return the sessions, among them that of this instance if it has ended; empty if
	 * the store has lost the round
	 */
	public List<MemberId> missing() {
		return Stream.of(this.missing).map(MemberId::new).toList();
	}

}
