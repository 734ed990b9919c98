package io.github.shardkeeper.checkpoint;

import java.util.Comparator;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.Token;

/**
 * The commits that a shard's checkpoint consists of, as far back as a store remembers:
 * those of the current owner and of the one before. Immutable.
 *
 * @param last the last commit under the shard's newest token
 * @param before the last commit before the shard was acquired under that token;
 * {@code null} if it is not known
 */
public record CommitHistory(@Nullable Offset offset, LastCommit last, @Nullable LastCommit before) {

	/** Returns whether an accepted commit is certainly lost and not written again. */
	public boolean lacks(LastCommit accepted) {
		if (this.last.token().compareTo(accepted.token()) <= 0) {
			return this.last.compareTo(accepted) < 0;
		}
		// If there were more owners since then, it is not known.
		return this.before != null && this.before.compareTo(accepted) < 0;
	}

	/**
	 * The last accepted commit of one owner of a shard. Unless the store loses writes,
	 * later ones are greater. Immutable.
	 *
	 * @param number the number of the commit, 0 if there was none under that token
	 */
	public record LastCommit(Token token, long number) implements Comparable<LastCommit> {

		private static final Comparator<LastCommit> ORDER = Comparator.comparing(LastCommit::token)
			.thenComparingLong(LastCommit::number);

		/** The shard has never had an owner. */
		public static final LastCommit NONE = new LastCommit(Token.NONE, 0);

		@Override
		public int compareTo(LastCommit other) {
			return ORDER.compare(this, other);
		}

	}

}
