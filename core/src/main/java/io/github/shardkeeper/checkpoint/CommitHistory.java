package io.github.shardkeeper.checkpoint;

import java.util.Comparator;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;

/**
 * Whose commits a shard's checkpoint consists of, as far back as a store keeps that: the
 * owner of now, and the one before. Immutable.
 *
 * @param offset the committed offset
 * @param last the last commit of whoever acquired the shard last
 * @param before the last commit before it was acquired under that token; {@code null} if
 * that is not known
 */
public record CommitHistory(@Nullable Offset offset, LastCommit last, @Nullable LastCommit before) {

	/**
	 * Whether it is sure that a commit is not part of the checkpoint.
	 * @param accepted a commit that was accepted
	 * @return whether the store has lost it, and nobody has written it back
	 */
	public boolean lacks(LastCommit accepted) {
		if (this.last.token().compareTo(accepted.token()) <= 0) {
			return this.last.compareTo(accepted) < 0;
		}
		// With more owners since then, nobody knows any more.
		return this.before != null && this.before.compareTo(accepted) < 0;
	}

	/**
	 * The last commit that was accepted of one owner of a shard. In the past of one
	 * store, later ones are greater. Immutable.
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

}
