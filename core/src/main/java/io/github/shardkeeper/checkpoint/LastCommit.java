package io.github.shardkeeper.checkpoint;

import java.util.Comparator;

import io.github.shardkeeper.shard.Token;

/**
 * The last commit that was accepted of one owner of a shard. In the past of one store,
 * later ones are greater. Immutable.
 *
 * @param token the owner's token
 * @param number the number of the commit, 0 if there was none under that token
 */
public record LastCommit(Token token, long number) implements Comparable<LastCommit> {

	private static final Comparator<LastCommit> ORDER = Comparator.comparing(LastCommit::token)
		.thenComparingLong(LastCommit::number);

	/** Nobody has ever owned the shard. */
	public static final LastCommit NONE = new LastCommit(Token.NONE, 0);

	@Override
	public int compareTo(LastCommit other) {
		return ORDER.compare(this, other);
	}

}
